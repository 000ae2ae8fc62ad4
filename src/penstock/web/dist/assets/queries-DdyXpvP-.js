<<<<<<<< HEAD:src/penstock/web/dist/assets/queries-MInQVFA_.js
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-BrQ7XFa1.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
========
import{c as e,u as t}from"./cn-C3gywg-s.js";import{j as n}from"./index-C_7s2liz.js";function r(r){return n({queryKey:[`job`,r],queryFn:({signal:n})=>t(e.GET(`/api/jobs/{job_id}`,{params:{path:{job_id:r}},signal:n}))})}var i=n({queryKey:[`queue`],queryFn:({signal:n})=>t(e.GET(`/health/queue`,{signal:n})),refetchInterval:5e3});export{i as n,r as t};
>>>>>>>> 60dd6277 (feat: saved queries of the org; quotas and secret in the UI):src/penstock/web/dist/assets/queries-DdyXpvP-.js
