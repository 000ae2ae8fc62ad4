<<<<<<<< HEAD:src/penstock/web/dist/assets/pause-B3itxDW4.js
import{d as e}from"./index-BsJp6Jkd.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
========
import{d as e}from"./index-VsbHUESh.js";var t={name:`pause`,size:24,node:[[`rect`,{x:`14`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`kaeet6`}],[`rect`,{x:`5`,y:`3`,width:`5`,height:`18`,rx:`1`,key:`1wsw3u`}]]};t.node;var n=e(t);export{n as t};
>>>>>>>> b54b600 (docs: name the kinds of exports):src/penstock/web/dist/assets/pause-C2J6Gg8H.js
