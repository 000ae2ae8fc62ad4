<<<<<<<< HEAD:src/penstock/web/dist/assets/queries-Dgkg5RLC.js
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-uUqQj9m4.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
========
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-C6yR89Fg.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
>>>>>>>> c83a89d5 (chore: build the UI again):src/penstock/web/dist/assets/queries-DWRo0U2_.js
