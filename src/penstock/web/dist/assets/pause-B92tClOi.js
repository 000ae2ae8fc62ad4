<<<<<<<< HEAD:src/penstock/web/dist/assets/pause-DLUHWV5k.js
import{d as e}from"./index-BqcB7bNw.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-B7AO4rcV.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> 99a4b0c (feat: edit watchers and schedules; rename taken files):src/penstock/web/dist/assets/pause-B92tClOi.js
