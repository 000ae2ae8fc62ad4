<<<<<<<< HEAD:src/penstock/web/dist/assets/undo-2-gjGcDgpW.js
import{d as e}from"./index-D5y5QENU.js";var t={name:`undo-2`,size:24,node:[[`path`,{d:`M9 14 4 9l5-5`,key:`102s5s`}],[`path`,{d:`M4 9h10.5a5.5 5.5 0 0 1 5.5 5.5a5.5 5.5 0 0 1-5.5 5.5H11`,key:`f3b9sd`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-BRaN1vaJ.js";var t={name:`undo-2`,size:24,node:[[`path`,{d:`M9 14 4 9l5-5`,key:`102s5s`}],[`path`,{d:`M4 9h10.5a5.5 5.5 0 0 1 5.5 5.5a5.5 5.5 0 0 1-5.5 5.5H11`,key:`f3b9sd`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> e5767df (chore: build the UI):src/penstock/web/dist/assets/undo-2-C_cZk87r.js
