<<<<<<<< HEAD:src/penstock/web/dist/assets/queries-B9hgI2a7.js
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-Bz5kXq5U.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
========
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-DUC5VPtA.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
>>>>>>>> bd2ad3f (chore: build the UI again):src/penstock/web/dist/assets/queries-CM8EbyC1.js
