<<<<<<<< HEAD:src/penstock/web/dist/assets/briefcase-AV5Wk1Re.js
import{d as e}from"./index-Bz5kXq5U.js";var t={name:`briefcase`,size:24,node:[[`path`,{d:`M16 20V4a2 2 0 0 0-2-2h-4a2 2 0 0 0-2 2v16`,key:`jecpp`}],[`rect`,{width:`20`,height:`14`,x:`2`,y:`6`,rx:`2`,key:`i6l2r4`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-DUC5VPtA.js";var t={name:`briefcase`,size:24,node:[[`path`,{d:`M16 20V4a2 2 0 0 0-2-2h-4a2 2 0 0 0-2 2v16`,key:`jecpp`}],[`rect`,{width:`20`,height:`14`,x:`2`,y:`6`,rx:`2`,key:`i6l2r4`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> bd2ad3f (chore: build the UI again):src/penstock/web/dist/assets/briefcase-BnpivSq6.js
