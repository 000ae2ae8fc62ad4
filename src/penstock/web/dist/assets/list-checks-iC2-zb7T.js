<<<<<<<< HEAD:src/penstock/web/dist/assets/list-checks-BGI6UZxC.js
import{d as e}from"./index-Bz5kXq5U.js";var t={name:`list-checks`,size:24,node:[[`path`,{d:`M13 5h8`,key:`a7qcls`}],[`path`,{d:`M13 12h8`,key:`h98zly`}],[`path`,{d:`M13 19h8`,key:`c3s6r1`}],[`path`,{d:`m3 17 2 2 4-4`,key:`1jhpwq`}],[`path`,{d:`m3 7 2 2 4-4`,key:`1obspn`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-DUC5VPtA.js";var t={name:`list-checks`,size:24,node:[[`path`,{d:`M13 5h8`,key:`a7qcls`}],[`path`,{d:`M13 12h8`,key:`h98zly`}],[`path`,{d:`M13 19h8`,key:`c3s6r1`}],[`path`,{d:`m3 17 2 2 4-4`,key:`1jhpwq`}],[`path`,{d:`m3 7 2 2 4-4`,key:`1obspn`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> bd2ad3f (chore: build the UI again):src/penstock/web/dist/assets/list-checks-iC2-zb7T.js
