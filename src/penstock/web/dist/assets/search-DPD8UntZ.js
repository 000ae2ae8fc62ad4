<<<<<<<< HEAD:src/penstock/web/dist/assets/search-DPD8UntZ.js
import{d as e}from"./index-D5y5QENU.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-BRaN1vaJ.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> e5767df (chore: build the UI):src/penstock/web/dist/assets/search-BJ5IwPKE.js
