<<<<<<<< HEAD:src/penstock/web/dist/assets/play-DR5vowod.js
import{d as e}from"./index-BsJp6Jkd.js";var t={name:`play`,size:24,node:[[`path`,{d:`M5 5a2 2 0 0 1 3.008-1.728l11.997 6.998a2 2 0 0 1 .003 3.458l-12 7A2 2 0 0 1 5 19z`,key:`10ikf1`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-VsbHUESh.js";var t={name:`play`,size:24,node:[[`path`,{d:`M5 5a2 2 0 0 1 3.008-1.728l11.997 6.998a2 2 0 0 1 .003 3.458l-12 7A2 2 0 0 1 5 19z`,key:`10ikf1`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> b54b600 (docs: name the kinds of exports):src/penstock/web/dist/assets/play-Bi4P6fLJ.js
