<<<<<<<< HEAD:src/penstock/web/dist/assets/queries-q3lG7fnq.js
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-BsJp6Jkd.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
========
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-VsbHUESh.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
>>>>>>>> b54b600 (docs: name the kinds of exports):src/penstock/web/dist/assets/queries-B-lv9cPu.js
