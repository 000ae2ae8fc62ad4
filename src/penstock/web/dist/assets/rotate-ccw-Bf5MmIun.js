<<<<<<<< HEAD:src/penstock/web/dist/assets/rotate-ccw-qpItn5BV.js
import{d as e}from"./index-Bz5kXq5U.js";var t={name:`rotate-ccw`,size:24,node:[[`path`,{d:`M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8`,key:`1357e3`}],[`path`,{d:`M3 3v5h5`,key:`1xhq8a`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-DUC5VPtA.js";var t={name:`rotate-ccw`,size:24,node:[[`path`,{d:`M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8`,key:`1357e3`}],[`path`,{d:`M3 3v5h5`,key:`1xhq8a`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> bd2ad3f (chore: build the UI again):src/penstock/web/dist/assets/rotate-ccw-Bf5MmIun.js
