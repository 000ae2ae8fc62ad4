<<<<<<<< HEAD:src/penstock/web/dist/assets/pause-CS-XsZ02.js
import{d as e}from"./index-D5y5QENU.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-BRaN1vaJ.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> e5767df (chore: build the UI):src/penstock/web/dist/assets/pause-BLiLbuTH.js
