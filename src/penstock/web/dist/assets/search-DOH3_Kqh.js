<<<<<<<< HEAD:src/penstock/web/dist/assets/search-DeNEUp29.js
import{d as e}from"./index-BsJp6Jkd.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-VsbHUESh.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> b54b600 (docs: name the kinds of exports):src/penstock/web/dist/assets/search-DOH3_Kqh.js
