<<<<<<<< HEAD:src/penstock/web/dist/assets/ellipsis-DcR2Xkf1.js
import{d as e}from"./index-BqcB7bNw.js";var t={name:`ellipsis`,size:24,node:[[`circle`,{cx:`12`,cy:`12`,r:`1`,key:`41hilf`}],[`circle`,{cx:`19`,cy:`12`,r:`1`,key:`1wjl8i`}],[`circle`,{cx:`5`,cy:`12`,r:`1`,key:`1pcz8c`}]],aliases:[`more-horizontal`]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-B7AO4rcV.js";var t={name:`ellipsis`,size:24,node:[[`circle`,{cx:`12`,cy:`12`,r:`1`,key:`41hilf`}],[`circle`,{cx:`19`,cy:`12`,r:`1`,key:`1wjl8i`}],[`circle`,{cx:`5`,cy:`12`,r:`1`,key:`1pcz8c`}]],aliases:[`more-horizontal`]};t.node;var n=e(t);export{n as t};
>>>>>>>> 99a4b0c (feat: edit watchers and schedules; rename taken files):src/penstock/web/dist/assets/ellipsis-9TsOYu7J.js
