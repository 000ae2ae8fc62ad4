<<<<<<<< HEAD:src/penstock/web/dist/assets/pause-CeWH_jqk.js
import{d as e}from"./index-Bz5kXq5U.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-DUC5VPtA.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> bd2ad3f (chore: build the UI again):src/penstock/web/dist/assets/pause-BvXutQF1.js
