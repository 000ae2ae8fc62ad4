<<<<<<<< HEAD:src/penstock/web/dist/assets/pause-B_oMRI8E.js
import{d as e}from"./index-uUqQj9m4.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-C6yR89Fg.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> c83a89d5 (chore: build the UI again):src/penstock/web/dist/assets/pause-CRGpGNMl.js
