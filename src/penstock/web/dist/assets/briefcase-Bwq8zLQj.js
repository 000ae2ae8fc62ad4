<<<<<<<< HEAD:src/penstock/web/dist/assets/briefcase-BX6n5PHS.js
import{d as e}from"./index-BsJp6Jkd.js";var t={name:`briefcase`,size:24,node:[[`path`,{d:`M16 20V4a2 2 0 0 0-2-2h-4a2 2 0 0 0-2 2v16`,key:`jecpp`}],[`rect`,{width:`20`,height:`14`,x:`2`,y:`6`,rx:`2`,key:`i6l2r4`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-VsbHUESh.js";var t={name:`briefcase`,size:24,node:[[`path`,{d:`M16 20V4a2 2 0 0 0-2-2h-4a2 2 0 0 0-2 2v16`,key:`jecpp`}],[`rect`,{width:`20`,height:`14`,x:`2`,y:`6`,rx:`2`,key:`i6l2r4`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> b54b600 (docs: name the kinds of exports):src/penstock/web/dist/assets/briefcase-Bwq8zLQj.js
