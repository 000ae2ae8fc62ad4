<<<<<<<< HEAD:src/penstock/web/dist/assets/briefcase-hoCaHwyO.js
import{d as e}from"./index-BqcB7bNw.js";var t={name:`briefcase`,size:24,node:[[`path`,{d:`M16 20V4a2 2 0 0 0-2-2h-4a2 2 0 0 0-2 2v16`,key:`jecpp`}],[`rect`,{width:`20`,height:`14`,x:`2`,y:`6`,rx:`2`,key:`i6l2r4`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-JhpEnW6T.js";var t={name:`briefcase`,size:24,node:[[`path`,{d:`M16 20V4a2 2 0 0 0-2-2h-4a2 2 0 0 0-2 2v16`,key:`jecpp`}],[`rect`,{width:`20`,height:`14`,x:`2`,y:`6`,rx:`2`,key:`i6l2r4`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> aed5ed5 (feat: edit many rows of a job, and undo edits):src/penstock/web/dist/assets/briefcase-CGml0p7w.js
