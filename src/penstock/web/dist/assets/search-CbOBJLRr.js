<<<<<<<< HEAD:src/penstock/web/dist/assets/search-CczIqzxX.js
import{d as e}from"./index-BqcB7bNw.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-JhpEnW6T.js";var t={name:`search`,size:24,node:[[`path`,{d:`m21 21-4.34-4.34`,key:`14j7rj`}],[`circle`,{cx:`11`,cy:`11`,r:`8`,key:`4ej97u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> aed5ed5 (feat: edit many rows of a job, and undo edits):src/penstock/web/dist/assets/search-CbOBJLRr.js
