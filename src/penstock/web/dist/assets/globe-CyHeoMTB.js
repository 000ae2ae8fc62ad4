<<<<<<<< HEAD:src/penstock/web/dist/assets/globe-Dx88PAVq.js
import{d as e}from"./index-BrQ7XFa1.js";var t={name:`globe`,size:24,node:[[`circle`,{cx:`12`,cy:`12`,r:`10`,key:`1mglay`}],[`path`,{d:`M12 2a14.5 14.5 0 0 0 0 20 14.5 14.5 0 0 0 0-20`,key:`13o1zl`}],[`path`,{d:`M2 12h20`,key:`9i4pu4`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-C_7s2liz.js";var t={name:`globe`,size:24,node:[[`circle`,{cx:`12`,cy:`12`,r:`10`,key:`1mglay`}],[`path`,{d:`M12 2a14.5 14.5 0 0 0 0 20 14.5 14.5 0 0 0 0-20`,key:`13o1zl`}],[`path`,{d:`M2 12h20`,key:`9i4pu4`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> 60dd6277 (feat: saved queries of the org; quotas and secret in the UI):src/penstock/web/dist/assets/globe-CyHeoMTB.js
