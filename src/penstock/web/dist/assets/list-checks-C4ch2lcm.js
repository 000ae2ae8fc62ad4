<<<<<<<< HEAD:src/penstock/web/dist/assets/list-checks-BibkeUxx.js
import{d as e}from"./index-uUqQj9m4.js";var t={name:`list-checks`,size:24,node:[[`path`,{d:`M13 5h8`,key:`a7qcls`}],[`path`,{d:`M13 12h8`,key:`h98zly`}],[`path`,{d:`M13 19h8`,key:`c3s6r1`}],[`path`,{d:`m3 17 2 2 4-4`,key:`1jhpwq`}],[`path`,{d:`m3 7 2 2 4-4`,key:`1obspn`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-C6yR89Fg.js";var t={name:`list-checks`,size:24,node:[[`path`,{d:`M13 5h8`,key:`a7qcls`}],[`path`,{d:`M13 12h8`,key:`h98zly`}],[`path`,{d:`M13 19h8`,key:`c3s6r1`}],[`path`,{d:`m3 17 2 2 4-4`,key:`1jhpwq`}],[`path`,{d:`m3 7 2 2 4-4`,key:`1obspn`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> c83a89d5 (chore: build the UI again):src/penstock/web/dist/assets/list-checks-C4ch2lcm.js
