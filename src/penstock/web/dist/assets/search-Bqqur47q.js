<<<<<<<< HEAD:src/penstock/web/dist/assets/search-CiWWKjN_.js
import{d as e}from"./index-BrQ7XFa1.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-C_7s2liz.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> 60dd6277 (feat: saved queries of the org; quotas and secret in the UI):src/penstock/web/dist/assets/search-Bqqur47q.js
