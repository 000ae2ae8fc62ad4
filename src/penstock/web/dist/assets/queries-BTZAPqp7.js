<<<<<<<< HEAD:src/penstock/web/dist/assets/queries-BTZAPqp7.js
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-D5y5QENU.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
========
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-BRaN1vaJ.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
>>>>>>>> e5767df (chore: build the UI):src/penstock/web/dist/assets/queries-bD6s5Z3G.js
