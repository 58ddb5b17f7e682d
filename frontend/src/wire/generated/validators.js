// Generated from shared/schemas by tools/generate.py. Do not edit.
"use strict";
export const isLiveMessage = validate22;
function validate26(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate26.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((data === "taskstats") || (data === "procfs"))){
validate26.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate26.errors = vErrors;
return errors === 0;
}
function validate25(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.pid === undefined) && (missing0 = "pid")) || ((data.version === undefined) && (missing0 = "version"))) || ((data.privileged === undefined) && (missing0 = "privileged"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.max_targets === undefined) && (missing0 = "max_targets"))){
validate25.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pid !== undefined){
let data0 = data.pid;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate25.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 1 || isNaN(data0)){
validate25.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.version !== undefined){
const _errs3 = errors;
if(typeof data.version !== "string"){
validate25.errors = [{instancePath:instancePath+"/version",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.privileged !== undefined){
const _errs5 = errors;
if(typeof data.privileged !== "boolean"){
validate25.errors = [{instancePath:instancePath+"/privileged",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
const _errs7 = errors;
if(!(validate26(data.source, {instancePath:instancePath+"/source"}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs8 = errors;
if(typeof data.reason !== "string"){
validate25.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_targets !== undefined){
let data5 = data.max_targets;
const _errs10 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate25.errors = [{instancePath:instancePath+"/max_targets",keyword:"type"}];
return false;
}
if(errors === _errs10){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate25.errors = [{instancePath:instancePath+"/max_targets",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate25.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate25.errors = vErrors;
return errors === 0;
}
function validate30(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate30.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((data === "ended") || (data === "lost")) || (data === "crashed"))){
validate30.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate30.errors = vErrors;
return errors === 0;
}
function validate32(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.pid === undefined) && (missing0 = "pid")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.threads === undefined) && (missing0 = "threads"))) || ((data.problem === undefined) && (missing0 = "problem"))){
validate32.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pid !== undefined){
let data0 = data.pid;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate32.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 1 || isNaN(data0)){
validate32.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate32.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads !== undefined){
let data2 = data.threads;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate32.errors = [{instancePath:instancePath+"/threads",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate32.errors = [{instancePath:instancePath+"/threads",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.problem !== undefined){
const _errs7 = errors;
if(typeof data.problem !== "string"){
validate32.errors = [{instancePath:instancePath+"/problem",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate32.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate32.errors = vErrors;
return errors === 0;
}
function validate29(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.kind === undefined) && (missing0 = "kind")) || ((data.at_unix_us === undefined) && (missing0 = "at_unix_us"))) || ((data.back_unix_us === undefined) && (missing0 = "back_unix_us"))) || ((data.attached === undefined) && (missing0 = "attached"))) || ((data.failed === undefined) && (missing0 = "failed"))) || ((data.restored === undefined) && (missing0 = "restored"))) || ((data.leases === undefined) && (missing0 = "leases"))){
validate29.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.kind !== undefined){
const _errs1 = errors;
if(!(validate30(data.kind, {instancePath:instancePath+"/kind"}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.at_unix_us !== undefined){
let data1 = data.at_unix_us;
const _errs2 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate29.errors = [{instancePath:instancePath+"/at_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs2){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate29.errors = [{instancePath:instancePath+"/at_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.back_unix_us !== undefined){
let data2 = data.back_unix_us;
const _errs4 = errors;
if((!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))) && (data2 !== null)){
validate29.errors = [{instancePath:instancePath+"/back_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate29.errors = [{instancePath:instancePath+"/back_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attached !== undefined){
let data3 = data.attached;
const _errs6 = errors;
if(errors === _errs6){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
const _errs8 = errors;
if(typeof data3[i0] !== "string"){
validate29.errors = [{instancePath:instancePath+"/attached/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs8 === errors;
if(!valid1){
break;
}
}
}
else {
validate29.errors = [{instancePath:instancePath+"/attached",keyword:"type"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steered !== undefined){
let data5 = data.steered;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data5)){
var valid2 = true;
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
const _errs12 = errors;
if(typeof data5[i1] !== "string"){
validate29.errors = [{instancePath:instancePath+"/steered/" + i1,keyword:"type"}];
return false;
}
var valid2 = _errs12 === errors;
if(!valid2){
break;
}
}
}
else {
validate29.errors = [{instancePath:instancePath+"/steered",keyword:"type"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.failed !== undefined){
let data7 = data.failed;
const _errs14 = errors;
if(errors === _errs14){
if(Array.isArray(data7)){
var valid3 = true;
const len2 = data7.length;
for(let i2=0; i2<len2; i2++){
const _errs16 = errors;
if(typeof data7[i2] !== "string"){
validate29.errors = [{instancePath:instancePath+"/failed/" + i2,keyword:"type"}];
return false;
}
var valid3 = _errs16 === errors;
if(!valid3){
break;
}
}
}
else {
validate29.errors = [{instancePath:instancePath+"/failed",keyword:"type"}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.restored !== undefined){
let data9 = data.restored;
const _errs18 = errors;
if(errors === _errs18){
if(Array.isArray(data9)){
var valid4 = true;
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
const _errs20 = errors;
if(!(validate32(data9[i3], {instancePath:instancePath+"/restored/" + i3}))){
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid4 = _errs20 === errors;
if(!valid4){
break;
}
}
}
else {
validate29.errors = [{instancePath:instancePath+"/restored",keyword:"type"}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.leases !== undefined){
let data11 = data.leases;
const _errs21 = errors;
if(errors === _errs21){
if(Array.isArray(data11)){
var valid5 = true;
const len4 = data11.length;
for(let i4=0; i4<len4; i4++){
const _errs23 = errors;
if(typeof data11[i4] !== "string"){
validate29.errors = [{instancePath:instancePath+"/leases/" + i4,keyword:"type"}];
return false;
}
var valid5 = _errs23 === errors;
if(!valid5){
break;
}
}
}
else {
validate29.errors = [{instancePath:instancePath+"/leases",keyword:"type"}];
return false;
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate29.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate29.errors = vErrors;
return errors === 0;
}
function validate24(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.id === undefined) && (missing0 = "id")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.kernel === undefined) && (missing0 = "kernel"))) || ((data.cpus === undefined) && (missing0 = "cpus"))) || ((data.cpu_model === undefined) && (missing0 = "cpu_model"))) || ((data.memory_bytes === undefined) && (missing0 = "memory_bytes"))) || ((data.connected === undefined) && (missing0 = "connected"))) || ((data.collector === undefined) && (missing0 = "collector"))){
validate24.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate24.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate24.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kernel !== undefined){
const _errs5 = errors;
if(typeof data.kernel !== "string"){
validate24.errors = [{instancePath:instancePath+"/kernel",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpus !== undefined){
let data3 = data.cpus;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate24.errors = [{instancePath:instancePath+"/cpus",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate24.errors = [{instancePath:instancePath+"/cpus",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_model !== undefined){
const _errs9 = errors;
if(typeof data.cpu_model !== "string"){
validate24.errors = [{instancePath:instancePath+"/cpu_model",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.memory_bytes !== undefined){
let data5 = data.memory_bytes;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate24.errors = [{instancePath:instancePath+"/memory_bytes",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate24.errors = [{instancePath:instancePath+"/memory_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.connected !== undefined){
const _errs13 = errors;
if(typeof data.connected !== "boolean"){
validate24.errors = [{instancePath:instancePath+"/connected",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.collector !== undefined){
const _errs15 = errors;
if(!(validate25(data.collector, {instancePath:instancePath+"/collector"}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.outage !== undefined){
let data8 = data.outage;
const _errs16 = errors;
const _errs17 = errors;
let valid1 = false;
const _errs18 = errors;
if(!(validate29(data8, {instancePath:instancePath+"/outage"}))){
vErrors = vErrors === null ? validate29.errors : vErrors.concat(validate29.errors);
errors = vErrors.length;
}
var _valid0 = _errs18 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs19 = errors;
if(data8 !== null){
const err0 = {instancePath:instancePath+"/outage",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs19 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/outage",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate24.errors = vErrors;
return false;
}
else {
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate24.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate24.errors = vErrors;
return errors === 0;
}
function validate38(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate38.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((((data === "go") || (data === "python")) || (data === "java")) || (data === "node")) || (data === "native")) || (data === "unknown"))){
validate38.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate38.errors = vErrors;
return errors === 0;
}
function validate40(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.type === undefined) && (missing0 = "type")) || ((data.title === undefined) && (missing0 = "title"))) || ((data.status === undefined) && (missing0 = "status"))) || ((data.detail === undefined) && (missing0 = "detail"))) || ((data.hint === undefined) && (missing0 = "hint"))){
validate40.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
const _errs1 = errors;
if(typeof data.type !== "string"){
validate40.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs3 = errors;
if(typeof data.title !== "string"){
validate40.errors = [{instancePath:instancePath+"/title",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status !== undefined){
let data2 = data.status;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate40.errors = [{instancePath:instancePath+"/status",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 400 || isNaN(data2)){
validate40.errors = [{instancePath:instancePath+"/status",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.detail !== undefined){
const _errs7 = errors;
if(typeof data.detail !== "string"){
validate40.errors = [{instancePath:instancePath+"/detail",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.hint !== undefined){
const _errs9 = errors;
if(typeof data.hint !== "string"){
validate40.errors = [{instancePath:instancePath+"/hint",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate40.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate40.errors = vErrors;
return errors === 0;
}
function validate42(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.id === undefined) && (missing0 = "id")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.runtime === undefined) && (missing0 = "runtime"))) || ((data.pod === undefined) && (missing0 = "pod"))){
validate42.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate42.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data1 = data.name;
const _errs3 = errors;
if((typeof data1 !== "string") && (data1 !== null)){
validate42.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.runtime !== undefined){
let data2 = data.runtime;
const _errs5 = errors;
if(typeof data2 !== "string"){
validate42.errors = [{instancePath:instancePath+"/runtime",keyword:"type"}];
return false;
}
if(!((((((data2 === "docker") || (data2 === "containerd")) || (data2 === "podman")) || (data2 === "kubernetes")) || (data2 === "lxc")) || (data2 === "other"))){
validate42.errors = [{instancePath:instancePath+"/runtime",keyword:"enum"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pod !== undefined){
let data3 = data.pod;
const _errs7 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate42.errors = [{instancePath:instancePath+"/pod",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pod_name !== undefined){
let data4 = data.pod_name;
const _errs9 = errors;
if((typeof data4 !== "string") && (data4 !== null)){
validate42.errors = [{instancePath:instancePath+"/pod_name",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate42.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate42.errors = vErrors;
return errors === 0;
}
function validate37(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((((data.pid === undefined) && (missing0 = "pid")) || ((data.start_ticks === undefined) && (missing0 = "start_ticks"))) || ((data.started_unix_ms === undefined) && (missing0 = "started_unix_ms"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.command === undefined) && (missing0 = "command"))) || ((data.executable === undefined) && (missing0 = "executable"))) || ((data.uid === undefined) && (missing0 = "uid"))) || ((data.user === undefined) && (missing0 = "user"))) || ((data.threads === undefined) && (missing0 = "threads"))) || ((data.cpu_percent === undefined) && (missing0 = "cpu_percent"))) || ((data.rss_bytes === undefined) && (missing0 = "rss_bytes"))) || ((data.runtime === undefined) && (missing0 = "runtime"))) || ((data.runtime_version === undefined) && (missing0 = "runtime_version"))) || ((data.ports === undefined) && (missing0 = "ports"))) || ((data.refusal === undefined) && (missing0 = "refusal"))){
validate37.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pid !== undefined){
let data0 = data.pid;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate37.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 1 || isNaN(data0)){
validate37.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ticks !== undefined){
let data1 = data.start_ticks;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate37.errors = [{instancePath:instancePath+"/start_ticks",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate37.errors = [{instancePath:instancePath+"/start_ticks",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_unix_ms !== undefined){
let data2 = data.started_unix_ms;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate37.errors = [{instancePath:instancePath+"/started_unix_ms",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate37.errors = [{instancePath:instancePath+"/started_unix_ms",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs7 = errors;
if(typeof data.name !== "string"){
validate37.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.command !== undefined){
let data4 = data.command;
const _errs9 = errors;
if((typeof data4 !== "string") && (data4 !== null)){
validate37.errors = [{instancePath:instancePath+"/command",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.executable !== undefined){
let data5 = data.executable;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate37.errors = [{instancePath:instancePath+"/executable",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.uid !== undefined){
let data6 = data.uid;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate37.errors = [{instancePath:instancePath+"/uid",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate37.errors = [{instancePath:instancePath+"/uid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
const _errs15 = errors;
if(typeof data.user !== "string"){
validate37.errors = [{instancePath:instancePath+"/user",keyword:"type"}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads !== undefined){
let data8 = data.threads;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate37.errors = [{instancePath:instancePath+"/threads",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate37.errors = [{instancePath:instancePath+"/threads",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_percent !== undefined){
let data9 = data.cpu_percent;
const _errs19 = errors;
if((!(typeof data9 == "number")) && (data9 !== null)){
validate37.errors = [{instancePath:instancePath+"/cpu_percent",keyword:"type"}];
return false;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rss_bytes !== undefined){
let data10 = data.rss_bytes;
const _errs21 = errors;
if((!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))) && (data10 !== null)){
validate37.errors = [{instancePath:instancePath+"/rss_bytes",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate37.errors = [{instancePath:instancePath+"/rss_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.runtime !== undefined){
const _errs23 = errors;
if(!(validate38(data.runtime, {instancePath:instancePath+"/runtime"}))){
vErrors = vErrors === null ? validate38.errors : vErrors.concat(validate38.errors);
errors = vErrors.length;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.runtime_version !== undefined){
let data12 = data.runtime_version;
const _errs24 = errors;
if((typeof data12 !== "string") && (data12 !== null)){
validate37.errors = [{instancePath:instancePath+"/runtime_version",keyword:"type"}];
return false;
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ports !== undefined){
let data13 = data.ports;
const _errs26 = errors;
if(errors === _errs26){
if(Array.isArray(data13)){
var valid1 = true;
const len0 = data13.length;
for(let i0=0; i0<len0; i0++){
let data14 = data13[i0];
const _errs28 = errors;
if(!((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14)))){
validate37.errors = [{instancePath:instancePath+"/ports/" + i0,keyword:"type"}];
return false;
}
if(errors === _errs28){
if(typeof data14 == "number"){
if(data14 < 0 || isNaN(data14)){
validate37.errors = [{instancePath:instancePath+"/ports/" + i0,keyword:"minimum"}];
return false;
}
}
}
var valid1 = _errs28 === errors;
if(!valid1){
break;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/ports",keyword:"type"}];
return false;
}
}
var valid0 = _errs26 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refusal !== undefined){
let data15 = data.refusal;
const _errs30 = errors;
const _errs31 = errors;
let valid2 = false;
const _errs32 = errors;
if(!(validate40(data15, {instancePath:instancePath+"/refusal"}))){
vErrors = vErrors === null ? validate40.errors : vErrors.concat(validate40.errors);
errors = vErrors.length;
}
var _valid0 = _errs32 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs33 = errors;
if(data15 !== null){
const err0 = {instancePath:instancePath+"/refusal",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs33 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err1 = {instancePath:instancePath+"/refusal",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate37.errors = vErrors;
return false;
}
else {
errors = _errs31;
if(vErrors !== null){
if(_errs31){
vErrors.length = _errs31;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs30 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parent !== undefined){
let data16 = data.parent;
const _errs35 = errors;
if((!((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16)))) && (data16 !== null)){
validate37.errors = [{instancePath:instancePath+"/parent",keyword:"type"}];
return false;
}
if(errors === _errs35){
if(typeof data16 == "number"){
if(data16 < 1 || isNaN(data16)){
validate37.errors = [{instancePath:instancePath+"/parent",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cgroup !== undefined){
let data17 = data.cgroup;
const _errs37 = errors;
if((typeof data17 !== "string") && (data17 !== null)){
validate37.errors = [{instancePath:instancePath+"/cgroup",keyword:"type"}];
return false;
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
let data18 = data.unit;
const _errs39 = errors;
if((typeof data18 !== "string") && (data18 !== null)){
validate37.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.container !== undefined){
let data19 = data.container;
const _errs41 = errors;
const _errs42 = errors;
let valid3 = false;
const _errs43 = errors;
if(!(validate42(data19, {instancePath:instancePath+"/container"}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
var _valid1 = _errs43 === errors;
valid3 = valid3 || _valid1;
if(!valid3){
const _errs44 = errors;
if(data19 !== null){
const err2 = {instancePath:instancePath+"/container",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs44 === errors;
valid3 = valid3 || _valid1;
}
if(!valid3){
const err3 = {instancePath:instancePath+"/container",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate37.errors = vErrors;
return false;
}
else {
errors = _errs42;
if(vErrors !== null){
if(_errs42){
vErrors.length = _errs42;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs41 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace_pid !== undefined){
let data20 = data.namespace_pid;
const _errs46 = errors;
if((!((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20)))) && (data20 !== null)){
validate37.errors = [{instancePath:instancePath+"/namespace_pid",keyword:"type"}];
return false;
}
if(errors === _errs46){
if(typeof data20 == "number"){
if(data20 < 1 || isNaN(data20)){
validate37.errors = [{instancePath:instancePath+"/namespace_pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace_uid !== undefined){
let data21 = data.namespace_uid;
const _errs48 = errors;
if((!((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21)))) && (data21 !== null)){
validate37.errors = [{instancePath:instancePath+"/namespace_uid",keyword:"type"}];
return false;
}
if(errors === _errs48){
if(typeof data21 == "number"){
if(data21 < 0 || isNaN(data21)){
validate37.errors = [{instancePath:instancePath+"/namespace_uid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs48 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace_user !== undefined){
let data22 = data.namespace_user;
const _errs50 = errors;
if((typeof data22 !== "string") && (data22 !== null)){
validate37.errors = [{instancePath:instancePath+"/namespace_user",keyword:"type"}];
return false;
}
var valid0 = _errs50 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.wait_percent !== undefined){
let data23 = data.wait_percent;
const _errs52 = errors;
if((!(typeof data23 == "number")) && (data23 !== null)){
validate37.errors = [{instancePath:instancePath+"/wait_percent",keyword:"type"}];
return false;
}
var valid0 = _errs52 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.throttled_percent !== undefined){
let data24 = data.throttled_percent;
const _errs54 = errors;
if((!(typeof data24 == "number")) && (data24 !== null)){
validate37.errors = [{instancePath:instancePath+"/throttled_percent",keyword:"type"}];
return false;
}
var valid0 = _errs54 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate37.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate37.errors = vErrors;
return errors === 0;
}
function validate46(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate46.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((((data === "tree") || (data === "cgroup")) || (data === "unit")) || (data === "container")) || (data === "pod")) || (data === "match"))){
validate46.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate46.errors = vErrors;
return errors === 0;
}
function validate45(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.kind === undefined) && (missing0 = "kind")) || ((data.value === undefined) && (missing0 = "value"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.cgroup === undefined) && (missing0 = "cgroup"))) || ((data.discovery === undefined) && (missing0 = "discovery"))) || ((data.discovery_reason === undefined) && (missing0 = "discovery_reason"))){
validate45.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.kind !== undefined){
const _errs1 = errors;
if(!(validate46(data.kind, {instancePath:instancePath+"/kind"}))){
vErrors = vErrors === null ? validate46.errors : vErrors.concat(validate46.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.value !== undefined){
let data1 = data.value;
const _errs2 = errors;
if((typeof data1 !== "string") && (data1 !== null)){
validate45.errors = [{instancePath:instancePath+"/value",keyword:"type"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs4 = errors;
if(typeof data.name !== "string"){
validate45.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cgroup !== undefined){
let data3 = data.cgroup;
const _errs6 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate45.errors = [{instancePath:instancePath+"/cgroup",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.discovery !== undefined){
let data4 = data.discovery;
const _errs8 = errors;
if(typeof data4 !== "string"){
validate45.errors = [{instancePath:instancePath+"/discovery",keyword:"type"}];
return false;
}
if(!((data4 === "ebpf") || (data4 === "polling"))){
validate45.errors = [{instancePath:instancePath+"/discovery",keyword:"enum"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.discovery_reason !== undefined){
const _errs10 = errors;
if(typeof data.discovery_reason !== "string"){
validate45.errors = [{instancePath:instancePath+"/discovery_reason",keyword:"type"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate45.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate45.errors = vErrors;
return errors === 0;
}
function validate49(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate49.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((data === "attached") || (data === "exited")) || (data === "detached"))){
validate49.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate49.errors = vErrors;
return errors === 0;
}
function validate51(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.kind === undefined) && (missing0 = "kind")) || ((data.taskstats_version === undefined) && (missing0 = "taskstats_version"))) || ((data.layout === undefined) && (missing0 = "layout"))) || ((data.reply_bytes === undefined) && (missing0 = "reply_bytes"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.exits === undefined) && (missing0 = "exits"))) || ((data.exits_reason === undefined) && (missing0 = "exits_reason"))) || ((data.network === undefined) && (missing0 = "network"))){
validate51.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.kind !== undefined){
const _errs1 = errors;
if(!(validate26(data.kind, {instancePath:instancePath+"/kind"}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.taskstats_version !== undefined){
let data1 = data.taskstats_version;
const _errs2 = errors;
if((!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))) && (data1 !== null)){
validate51.errors = [{instancePath:instancePath+"/taskstats_version",keyword:"type"}];
return false;
}
if(errors === _errs2){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate51.errors = [{instancePath:instancePath+"/taskstats_version",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.layout !== undefined){
let data2 = data.layout;
const _errs4 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate51.errors = [{instancePath:instancePath+"/layout",keyword:"type"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reply_bytes !== undefined){
let data3 = data.reply_bytes;
const _errs6 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate51.errors = [{instancePath:instancePath+"/reply_bytes",keyword:"type"}];
return false;
}
if(errors === _errs6){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate51.errors = [{instancePath:instancePath+"/reply_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs8 = errors;
if(typeof data.reason !== "string"){
validate51.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exits !== undefined){
const _errs10 = errors;
if(typeof data.exits !== "boolean"){
validate51.errors = [{instancePath:instancePath+"/exits",keyword:"type"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exits_reason !== undefined){
const _errs12 = errors;
if(typeof data.exits_reason !== "string"){
validate51.errors = [{instancePath:instancePath+"/exits_reason",keyword:"type"}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.network !== undefined){
const _errs14 = errors;
if(typeof data.network !== "string"){
validate51.errors = [{instancePath:instancePath+"/network",keyword:"type"}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ledger !== undefined){
const _errs16 = errors;
if(typeof data.ledger !== "boolean"){
validate51.errors = [{instancePath:instancePath+"/ledger",keyword:"type"}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ledger_reason !== undefined){
let data9 = data.ledger_reason;
const _errs18 = errors;
if((typeof data9 !== "string") && (data9 !== null)){
validate51.errors = [{instancePath:instancePath+"/ledger_reason",keyword:"type"}];
return false;
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.calls !== undefined){
const _errs20 = errors;
if(typeof data.calls !== "boolean"){
validate51.errors = [{instancePath:instancePath+"/calls",keyword:"type"}];
return false;
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate51.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate51.errors = vErrors;
return errors === 0;
}
function validate55(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.zone === undefined) && (missing0 = "zone")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.summed === undefined) && (missing0 = "summed"))){
validate55.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.zone !== undefined){
const _errs1 = errors;
if(typeof data.zone !== "string"){
validate55.errors = [{instancePath:instancePath+"/zone",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate55.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kind !== undefined){
let data2 = data.kind;
const _errs5 = errors;
if(typeof data2 !== "string"){
validate55.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
if(!((((((data2 === "package") || (data2 === "core")) || (data2 === "uncore")) || (data2 === "dram")) || (data2 === "psys")) || (data2 === "other"))){
validate55.errors = [{instancePath:instancePath+"/kind",keyword:"enum"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.summed !== undefined){
const _errs7 = errors;
if(typeof data.summed !== "boolean"){
validate55.errors = [{instancePath:instancePath+"/summed",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate55.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate55.errors = vErrors;
return errors === 0;
}
function validate54(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.domains === undefined) && (missing0 = "domains")) || ((data.reason === undefined) && (missing0 = "reason"))){
validate54.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.domains !== undefined){
let data0 = data.domains;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate55(data0[i0], {instancePath:instancePath+"/domains/" + i0}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate54.errors = [{instancePath:instancePath+"/domains",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs4 = errors;
if(typeof data.reason !== "string"){
validate54.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate54.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate54.errors = vErrors;
return errors === 0;
}
function validate58(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.field === undefined) && (missing0 = "field")) || ((data.reason === undefined) && (missing0 = "reason"))){
validate58.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.field !== undefined){
const _errs1 = errors;
if(typeof data.field !== "string"){
validate58.errors = [{instancePath:instancePath+"/field",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs3 = errors;
if(typeof data.reason !== "string"){
validate58.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate58.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate58.errors = vErrors;
return errors === 0;
}
function validate60(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.pattern === undefined) && (missing0 = "pattern")) || ((data.role === undefined) && (missing0 = "role"))){
validate60.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pattern !== undefined){
const _errs1 = errors;
if(typeof data.pattern !== "string"){
validate60.errors = [{instancePath:instancePath+"/pattern",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role !== undefined){
const _errs3 = errors;
if(typeof data.role !== "string"){
validate60.errors = [{instancePath:instancePath+"/role",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate60.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate60.errors = vErrors;
return errors === 0;
}
function validate63(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate63.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((data === "go-agent") || (data === "pool-agent")) || (data === "go-affinity"))){
validate63.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate63.errors = vErrors;
return errors === 0;
}
function validate65(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate65.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((((data === "agent-ops") || (data === "queue-wait")) || (data === "prometheus")) || (data === "network-calls")) || (data === "network-bytes"))){
validate65.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate65.errors = vErrors;
return errors === 0;
}
function validate68(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate68.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((((data === "open") || (data === "better")) || (data === "worse")) || (data === "same")) || (data === "harmful")) || (data === "unsettled"))){
validate68.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate68.errors = vErrors;
return errors === 0;
}
function validate70(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.percent === undefined) && (missing0 = "percent")) || ((data.low_percent === undefined) && (missing0 = "low_percent"))) || ((data.high_percent === undefined) && (missing0 = "high_percent"))){
validate70.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.percent !== undefined){
const _errs1 = errors;
if(!(typeof data.percent == "number")){
validate70.errors = [{instancePath:instancePath+"/percent",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low_percent !== undefined){
let data1 = data.low_percent;
const _errs3 = errors;
if((!(typeof data1 == "number")) && (data1 !== null)){
validate70.errors = [{instancePath:instancePath+"/low_percent",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < -100 || isNaN(data1)){
validate70.errors = [{instancePath:instancePath+"/low_percent",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high_percent !== undefined){
let data2 = data.high_percent;
const _errs5 = errors;
if((!(typeof data2 == "number")) && (data2 !== null)){
validate70.errors = [{instancePath:instancePath+"/high_percent",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate70.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate70.errors = vErrors;
return errors === 0;
}
function validate67(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.verdict === undefined) && (missing0 = "verdict")) || ((data.pairs === undefined) && (missing0 = "pairs"))) || ((data.discarded === undefined) && (missing0 = "discarded"))) || ((data.gain_percent === undefined) && (missing0 = "gain_percent"))) || ((data.low_percent === undefined) && (missing0 = "low_percent"))) || ((data.high_percent === undefined) && (missing0 = "high_percent"))) || ((data.lost_s === undefined) && (missing0 = "lost_s"))) || ((data.elapsed_s === undefined) && (missing0 = "elapsed_s"))) || ((data.steers === undefined) && (missing0 = "steers"))) || ((data.text === undefined) && (missing0 = "text"))){
validate67.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.verdict !== undefined){
const _errs1 = errors;
if(!(validate68(data.verdict, {instancePath:instancePath+"/verdict"}))){
vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pairs !== undefined){
let data1 = data.pairs;
const _errs2 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate67.errors = [{instancePath:instancePath+"/pairs",keyword:"type"}];
return false;
}
if(errors === _errs2){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate67.errors = [{instancePath:instancePath+"/pairs",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.discarded !== undefined){
let data2 = data.discarded;
const _errs4 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate67.errors = [{instancePath:instancePath+"/discarded",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate67.errors = [{instancePath:instancePath+"/discarded",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gain_percent !== undefined){
let data3 = data.gain_percent;
const _errs6 = errors;
if((!(typeof data3 == "number")) && (data3 !== null)){
validate67.errors = [{instancePath:instancePath+"/gain_percent",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low_percent !== undefined){
let data4 = data.low_percent;
const _errs8 = errors;
if((!(typeof data4 == "number")) && (data4 !== null)){
validate67.errors = [{instancePath:instancePath+"/low_percent",keyword:"type"}];
return false;
}
if(errors === _errs8){
if(typeof data4 == "number"){
if(data4 < -100 || isNaN(data4)){
validate67.errors = [{instancePath:instancePath+"/low_percent",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high_percent !== undefined){
let data5 = data.high_percent;
const _errs10 = errors;
if((!(typeof data5 == "number")) && (data5 !== null)){
validate67.errors = [{instancePath:instancePath+"/high_percent",keyword:"type"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.p99 !== undefined){
let data6 = data.p99;
const _errs12 = errors;
const _errs13 = errors;
let valid1 = false;
const _errs14 = errors;
if(!(validate70(data6, {instancePath:instancePath+"/p99"}))){
vErrors = vErrors === null ? validate70.errors : vErrors.concat(validate70.errors);
errors = vErrors.length;
}
var _valid0 = _errs14 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs15 = errors;
if(data6 !== null){
const err0 = {instancePath:instancePath+"/p99",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs15 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/p99",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate67.errors = vErrors;
return false;
}
else {
errors = _errs13;
if(vErrors !== null){
if(_errs13){
vErrors.length = _errs13;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.p99_missing !== undefined){
let data7 = data.p99_missing;
const _errs17 = errors;
if((typeof data7 !== "string") && (data7 !== null)){
validate67.errors = [{instancePath:instancePath+"/p99_missing",keyword:"type"}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lost_s !== undefined){
const _errs19 = errors;
if(!(typeof data.lost_s == "number")){
validate67.errors = [{instancePath:instancePath+"/lost_s",keyword:"type"}];
return false;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.elapsed_s !== undefined){
let data9 = data.elapsed_s;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate67.errors = [{instancePath:instancePath+"/elapsed_s",keyword:"minimum"}];
return false;
}
}
else {
validate67.errors = [{instancePath:instancePath+"/elapsed_s",keyword:"type"}];
return false;
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steers !== undefined){
const _errs23 = errors;
if(typeof data.steers !== "boolean"){
validate67.errors = [{instancePath:instancePath+"/steers",keyword:"type"}];
return false;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.text !== undefined){
const _errs25 = errors;
if(typeof data.text !== "string"){
validate67.errors = [{instancePath:instancePath+"/text",keyword:"type"}];
return false;
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate67.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate67.errors = vErrors;
return errors === 0;
}
function validate73(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((data.share === undefined) && (missing0 = "share")) || ((data.floor === undefined) && (missing0 = "floor"))) || ((data.priority === undefined) && (missing0 = "priority"))) || ((data.cores === undefined) && (missing0 = "cores"))) || ((data.total === undefined) && (missing0 = "total"))) || ((data.programs === undefined) && (missing0 = "programs"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.cause === undefined) && (missing0 = "cause"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.changed_unix_us === undefined) && (missing0 = "changed_unix_us"))) || ((data.more_percent === undefined) && (missing0 = "more_percent"))) || ((data.less_percent === undefined) && (missing0 = "less_percent"))){
validate73.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.share !== undefined){
let data0 = data.share;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0.01 || isNaN(data0)){
validate73.errors = [{instancePath:instancePath+"/share",keyword:"minimum"}];
return false;
}
}
else {
validate73.errors = [{instancePath:instancePath+"/share",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.floor !== undefined){
let data1 = data.floor;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate73.errors = [{instancePath:instancePath+"/floor",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate73.errors = [{instancePath:instancePath+"/floor",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.priority !== undefined){
let data2 = data.priority;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate73.errors = [{instancePath:instancePath+"/priority",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < -100 || isNaN(data2)){
validate73.errors = [{instancePath:instancePath+"/priority",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cores !== undefined){
let data3 = data.cores;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate73.errors = [{instancePath:instancePath+"/cores",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate73.errors = [{instancePath:instancePath+"/cores",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.total !== undefined){
let data4 = data.total;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate73.errors = [{instancePath:instancePath+"/total",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate73.errors = [{instancePath:instancePath+"/total",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.programs !== undefined){
let data5 = data.programs;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate73.errors = [{instancePath:instancePath+"/programs",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate73.errors = [{instancePath:instancePath+"/programs",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
let data6 = data.state;
const _errs13 = errors;
if(typeof data6 !== "string"){
validate73.errors = [{instancePath:instancePath+"/state",keyword:"type"}];
return false;
}
if(!((((data6 === "settled") || (data6 === "trying")) || (data6 === "idle")) || (data6 === "absent"))){
validate73.errors = [{instancePath:instancePath+"/state",keyword:"enum"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cause !== undefined){
let data7 = data.cause;
const _errs15 = errors;
if(typeof data7 !== "string"){
validate73.errors = [{instancePath:instancePath+"/cause",keyword:"type"}];
return false;
}
if(!(((data7 === "members") || (data7 === "try")) || (data7 === "estimate"))){
validate73.errors = [{instancePath:instancePath+"/cause",keyword:"enum"}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs17 = errors;
if(typeof data.reason !== "string"){
validate73.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.changed_unix_us !== undefined){
let data9 = data.changed_unix_us;
const _errs19 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate73.errors = [{instancePath:instancePath+"/changed_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate73.errors = [{instancePath:instancePath+"/changed_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.more_percent !== undefined){
let data10 = data.more_percent;
const _errs21 = errors;
if((!(typeof data10 == "number")) && (data10 !== null)){
validate73.errors = [{instancePath:instancePath+"/more_percent",keyword:"type"}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.less_percent !== undefined){
let data11 = data.less_percent;
const _errs23 = errors;
if((!(typeof data11 == "number")) && (data11 !== null)){
validate73.errors = [{instancePath:instancePath+"/less_percent",keyword:"type"}];
return false;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate73.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate73.errors = vErrors;
return errors === 0;
}
function validate76(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate76.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((data === "open") || (data === "decided")) || (data === "harmful")) || (data === "unsettled"))){
validate76.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate76.errors = vErrors;
return errors === 0;
}
function validate78(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.size === undefined) && (missing0 = "size")) || ((data.ops_per_s === undefined) && (missing0 = "ops_per_s"))) || ((data.low === undefined) && (missing0 = "low"))) || ((data.high === undefined) && (missing0 = "high"))) || ((data.rounds === undefined) && (missing0 = "rounds"))){
validate78.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.size !== undefined){
let data0 = data.size;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate78.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 1 || isNaN(data0)){
validate78.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ops_per_s !== undefined){
let data1 = data.ops_per_s;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate78.errors = [{instancePath:instancePath+"/ops_per_s",keyword:"minimum"}];
return false;
}
}
else {
validate78.errors = [{instancePath:instancePath+"/ops_per_s",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low !== undefined){
let data2 = data.low;
const _errs5 = errors;
if((!(typeof data2 == "number")) && (data2 !== null)){
validate78.errors = [{instancePath:instancePath+"/low",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate78.errors = [{instancePath:instancePath+"/low",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high !== undefined){
let data3 = data.high;
const _errs7 = errors;
if((!(typeof data3 == "number")) && (data3 !== null)){
validate78.errors = [{instancePath:instancePath+"/high",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate78.errors = [{instancePath:instancePath+"/high",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rounds !== undefined){
let data4 = data.rounds;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate78.errors = [{instancePath:instancePath+"/rounds",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate78.errors = [{instancePath:instancePath+"/rounds",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate78.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate78.errors = vErrors;
return errors === 0;
}
function validate75(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((((data.verdict === undefined) && (missing0 = "verdict")) || ((data.start === undefined) && (missing0 = "start"))) || ((data.rounds === undefined) && (missing0 = "rounds"))) || ((data.discarded === undefined) && (missing0 = "discarded"))) || ((data.points === undefined) && (missing0 = "points"))) || ((data.best === undefined) && (missing0 = "best"))) || ((data.knee === undefined) && (missing0 = "knee"))) || ((data.knee_from === undefined) && (missing0 = "knee_from"))) || ((data.knee_to === undefined) && (missing0 = "knee_to"))) || ((data.gain === undefined) && (missing0 = "gain"))) || ((data.refused === undefined) && (missing0 = "refused"))) || ((data.line === undefined) && (missing0 = "line"))) || ((data.lost_s === undefined) && (missing0 = "lost_s"))) || ((data.elapsed_s === undefined) && (missing0 = "elapsed_s"))) || ((data.text === undefined) && (missing0 = "text"))){
validate75.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.verdict !== undefined){
const _errs1 = errors;
if(!(validate76(data.verdict, {instancePath:instancePath+"/verdict"}))){
vErrors = vErrors === null ? validate76.errors : vErrors.concat(validate76.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start !== undefined){
let data1 = data.start;
const _errs2 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate75.errors = [{instancePath:instancePath+"/start",keyword:"type"}];
return false;
}
if(errors === _errs2){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate75.errors = [{instancePath:instancePath+"/start",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rounds !== undefined){
let data2 = data.rounds;
const _errs4 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate75.errors = [{instancePath:instancePath+"/rounds",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate75.errors = [{instancePath:instancePath+"/rounds",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.discarded !== undefined){
let data3 = data.discarded;
const _errs6 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate75.errors = [{instancePath:instancePath+"/discarded",keyword:"type"}];
return false;
}
if(errors === _errs6){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate75.errors = [{instancePath:instancePath+"/discarded",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.points !== undefined){
let data4 = data.points;
const _errs8 = errors;
if(errors === _errs8){
if(Array.isArray(data4)){
var valid1 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
const _errs10 = errors;
if(!(validate78(data4[i0], {instancePath:instancePath+"/points/" + i0}))){
vErrors = vErrors === null ? validate78.errors : vErrors.concat(validate78.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if(!valid1){
break;
}
}
}
else {
validate75.errors = [{instancePath:instancePath+"/points",keyword:"type"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.best !== undefined){
let data6 = data.best;
const _errs11 = errors;
if((!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))) && (data6 !== null)){
validate75.errors = [{instancePath:instancePath+"/best",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data6 == "number"){
if(data6 < 1 || isNaN(data6)){
validate75.errors = [{instancePath:instancePath+"/best",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knee !== undefined){
let data7 = data.knee;
const _errs13 = errors;
if((!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))) && (data7 !== null)){
validate75.errors = [{instancePath:instancePath+"/knee",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data7 == "number"){
if(data7 < 1 || isNaN(data7)){
validate75.errors = [{instancePath:instancePath+"/knee",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knee_from !== undefined){
let data8 = data.knee_from;
const _errs15 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate75.errors = [{instancePath:instancePath+"/knee_from",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data8 == "number"){
if(data8 < 1 || isNaN(data8)){
validate75.errors = [{instancePath:instancePath+"/knee_from",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knee_to !== undefined){
let data9 = data.knee_to;
const _errs17 = errors;
if((!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))) && (data9 !== null)){
validate75.errors = [{instancePath:instancePath+"/knee_to",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data9 == "number"){
if(data9 < 1 || isNaN(data9)){
validate75.errors = [{instancePath:instancePath+"/knee_to",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gain !== undefined){
let data10 = data.gain;
const _errs19 = errors;
const _errs20 = errors;
let valid2 = false;
const _errs21 = errors;
if(!(validate70(data10, {instancePath:instancePath+"/gain"}))){
vErrors = vErrors === null ? validate70.errors : vErrors.concat(validate70.errors);
errors = vErrors.length;
}
var _valid0 = _errs21 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs22 = errors;
if(data10 !== null){
const err0 = {instancePath:instancePath+"/gain",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs22 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err1 = {instancePath:instancePath+"/gain",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate75.errors = vErrors;
return false;
}
else {
errors = _errs20;
if(vErrors !== null){
if(_errs20){
vErrors.length = _errs20;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refused !== undefined){
let data11 = data.refused;
const _errs24 = errors;
if(errors === _errs24){
if(Array.isArray(data11)){
var valid3 = true;
const len1 = data11.length;
for(let i1=0; i1<len1; i1++){
let data12 = data11[i1];
const _errs26 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate75.errors = [{instancePath:instancePath+"/refused/" + i1,keyword:"type"}];
return false;
}
if(errors === _errs26){
if(typeof data12 == "number"){
if(data12 < 1 || isNaN(data12)){
validate75.errors = [{instancePath:instancePath+"/refused/" + i1,keyword:"minimum"}];
return false;
}
}
}
var valid3 = _errs26 === errors;
if(!valid3){
break;
}
}
}
else {
validate75.errors = [{instancePath:instancePath+"/refused",keyword:"type"}];
return false;
}
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.line !== undefined){
let data13 = data.line;
const _errs28 = errors;
if((typeof data13 !== "string") && (data13 !== null)){
validate75.errors = [{instancePath:instancePath+"/line",keyword:"type"}];
return false;
}
var valid0 = _errs28 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lost_s !== undefined){
const _errs30 = errors;
if(!(typeof data.lost_s == "number")){
validate75.errors = [{instancePath:instancePath+"/lost_s",keyword:"type"}];
return false;
}
var valid0 = _errs30 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.elapsed_s !== undefined){
let data15 = data.elapsed_s;
const _errs32 = errors;
if(errors === _errs32){
if(typeof data15 == "number"){
if(data15 < 0 || isNaN(data15)){
validate75.errors = [{instancePath:instancePath+"/elapsed_s",keyword:"minimum"}];
return false;
}
}
else {
validate75.errors = [{instancePath:instancePath+"/elapsed_s",keyword:"type"}];
return false;
}
}
var valid0 = _errs32 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.text !== undefined){
const _errs34 = errors;
if(typeof data.text !== "string"){
validate75.errors = [{instancePath:instancePath+"/text",keyword:"type"}];
return false;
}
var valid0 = _errs34 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate75.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate75.errors = vErrors;
return errors === 0;
}
function validate62(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((((data.policy === undefined) && (missing0 = "policy")) || ((data.parameters === undefined) && (missing0 = "parameters"))) || ((data.shadow === undefined) && (missing0 = "shadow"))) || ((data.knob === undefined) && (missing0 = "knob"))) || ((data.signal === undefined) && (missing0 = "signal"))) || ((data.proxy === undefined) && (missing0 = "proxy"))) || ((data.lower === undefined) && (missing0 = "lower"))) || ((data.upper === undefined) && (missing0 = "upper"))) || ((data.original === undefined) && (missing0 = "original"))) || ((data.size === undefined) && (missing0 = "size"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.decisions === undefined) && (missing0 = "decisions"))) || ((data.since_unix_us === undefined) && (missing0 = "since_unix_us"))) || ((data.problem === undefined) && (missing0 = "problem"))){
validate62.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.policy !== undefined){
const _errs1 = errors;
if(typeof data.policy !== "string"){
validate62.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parameters !== undefined){
let data1 = data.parameters;
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(Object.keys(data1).length > 64){
validate62.errors = [{instancePath:instancePath+"/parameters",keyword:"maxProperties"}];
return false;
}
else {
for(const key0 in data1){
const _errs6 = errors;
if(!(typeof data1[key0] == "number")){
validate62.errors = [{instancePath:instancePath+"/parameters/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type"}];
return false;
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate62.errors = [{instancePath:instancePath+"/parameters",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.shadow !== undefined){
const _errs8 = errors;
if(typeof data.shadow !== "boolean"){
validate62.errors = [{instancePath:instancePath+"/shadow",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knob !== undefined){
const _errs10 = errors;
if(!(validate63(data.knob, {instancePath:instancePath+"/knob"}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signal !== undefined){
const _errs11 = errors;
if(!(validate65(data.signal, {instancePath:instancePath+"/signal"}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proxy !== undefined){
const _errs12 = errors;
if(typeof data.proxy !== "boolean"){
validate62.errors = [{instancePath:instancePath+"/proxy",keyword:"type"}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lower !== undefined){
let data7 = data.lower;
const _errs14 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate62.errors = [{instancePath:instancePath+"/lower",keyword:"type"}];
return false;
}
if(errors === _errs14){
if(typeof data7 == "number"){
if(data7 < 1 || isNaN(data7)){
validate62.errors = [{instancePath:instancePath+"/lower",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upper !== undefined){
let data8 = data.upper;
const _errs16 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate62.errors = [{instancePath:instancePath+"/upper",keyword:"type"}];
return false;
}
if(errors === _errs16){
if(typeof data8 == "number"){
if(data8 < 1 || isNaN(data8)){
validate62.errors = [{instancePath:instancePath+"/upper",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.original !== undefined){
let data9 = data.original;
const _errs18 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate62.errors = [{instancePath:instancePath+"/original",keyword:"type"}];
return false;
}
if(errors === _errs18){
if(typeof data9 == "number"){
if(data9 < 1 || isNaN(data9)){
validate62.errors = [{instancePath:instancePath+"/original",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data10 = data.size;
const _errs20 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate62.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs20){
if(typeof data10 == "number"){
if(data10 < 1 || isNaN(data10)){
validate62.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
const _errs22 = errors;
if(typeof data.state !== "string"){
validate62.errors = [{instancePath:instancePath+"/state",keyword:"type"}];
return false;
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs24 = errors;
if(typeof data.reason !== "string"){
validate62.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.decisions !== undefined){
let data13 = data.decisions;
const _errs26 = errors;
if(!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))){
validate62.errors = [{instancePath:instancePath+"/decisions",keyword:"type"}];
return false;
}
if(errors === _errs26){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate62.errors = [{instancePath:instancePath+"/decisions",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs26 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.since_unix_us !== undefined){
let data14 = data.since_unix_us;
const _errs28 = errors;
if(!((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14)))){
validate62.errors = [{instancePath:instancePath+"/since_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs28){
if(typeof data14 == "number"){
if(data14 < 0 || isNaN(data14)){
validate62.errors = [{instancePath:instancePath+"/since_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs28 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.problem !== undefined){
let data15 = data.problem;
const _errs30 = errors;
if((typeof data15 !== "string") && (data15 !== null)){
validate62.errors = [{instancePath:instancePath+"/problem",keyword:"type"}];
return false;
}
var valid0 = _errs30 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proof !== undefined){
let data16 = data.proof;
const _errs32 = errors;
const _errs33 = errors;
let valid2 = false;
const _errs34 = errors;
if(!(validate67(data16, {instancePath:instancePath+"/proof"}))){
vErrors = vErrors === null ? validate67.errors : vErrors.concat(validate67.errors);
errors = vErrors.length;
}
var _valid0 = _errs34 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs35 = errors;
if(data16 !== null){
const err0 = {instancePath:instancePath+"/proof",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs35 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err1 = {instancePath:instancePath+"/proof",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate62.errors = vErrors;
return false;
}
else {
errors = _errs33;
if(vErrors !== null){
if(_errs33){
vErrors.length = _errs33;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs32 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ops_per_s !== undefined){
let data17 = data.ops_per_s;
const _errs37 = errors;
if((!(typeof data17 == "number")) && (data17 !== null)){
validate62.errors = [{instancePath:instancePath+"/ops_per_s",keyword:"type"}];
return false;
}
if(errors === _errs37){
if(typeof data17 == "number"){
if(data17 < 0 || isNaN(data17)){
validate62.errors = [{instancePath:instancePath+"/ops_per_s",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.interval_s !== undefined){
let data18 = data.interval_s;
const _errs39 = errors;
if((!(typeof data18 == "number")) && (data18 !== null)){
validate62.errors = [{instancePath:instancePath+"/interval_s",keyword:"type"}];
return false;
}
if(errors === _errs39){
if(typeof data18 == "number"){
if(data18 < 0 || isNaN(data18)){
validate62.errors = [{instancePath:instancePath+"/interval_s",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.decided_unix_us !== undefined){
let data19 = data.decided_unix_us;
const _errs41 = errors;
if((!((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19)))) && (data19 !== null)){
validate62.errors = [{instancePath:instancePath+"/decided_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs41){
if(typeof data19 == "number"){
if(data19 < 0 || isNaN(data19)){
validate62.errors = [{instancePath:instancePath+"/decided_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs41 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chosen_unix_us !== undefined){
let data20 = data.chosen_unix_us;
const _errs43 = errors;
if((!((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20)))) && (data20 !== null)){
validate62.errors = [{instancePath:instancePath+"/chosen_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs43){
if(typeof data20 == "number"){
if(data20 < 0 || isNaN(data20)){
validate62.errors = [{instancePath:instancePath+"/chosen_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs43 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.division !== undefined){
let data21 = data.division;
const _errs45 = errors;
const _errs46 = errors;
let valid3 = false;
const _errs47 = errors;
if(!(validate73(data21, {instancePath:instancePath+"/division"}))){
vErrors = vErrors === null ? validate73.errors : vErrors.concat(validate73.errors);
errors = vErrors.length;
}
var _valid1 = _errs47 === errors;
valid3 = valid3 || _valid1;
if(!valid3){
const _errs48 = errors;
if(data21 !== null){
const err2 = {instancePath:instancePath+"/division",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs48 === errors;
valid3 = valid3 || _valid1;
}
if(!valid3){
const err3 = {instancePath:instancePath+"/division",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate62.errors = vErrors;
return false;
}
else {
errors = _errs46;
if(vErrors !== null){
if(_errs46){
vErrors.length = _errs46;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs45 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sweep !== undefined){
let data22 = data.sweep;
const _errs50 = errors;
const _errs51 = errors;
let valid4 = false;
const _errs52 = errors;
if(!(validate75(data22, {instancePath:instancePath+"/sweep"}))){
vErrors = vErrors === null ? validate75.errors : vErrors.concat(validate75.errors);
errors = vErrors.length;
}
var _valid2 = _errs52 === errors;
valid4 = valid4 || _valid2;
if(!valid4){
const _errs53 = errors;
if(data22 !== null){
const err4 = {instancePath:instancePath+"/sweep",keyword:"type"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
var _valid2 = _errs53 === errors;
valid4 = valid4 || _valid2;
}
if(!valid4){
const err5 = {instancePath:instancePath+"/sweep",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
validate62.errors = vErrors;
return false;
}
else {
errors = _errs51;
if(vErrors !== null){
if(_errs51){
vErrors.length = _errs51;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs50 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate62.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate62.errors = vErrors;
return errors === 0;
}
function validate83(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.pid === undefined) && (missing0 = "pid")) || ((data.start_ticks === undefined) && (missing0 = "start_ticks"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.steering === undefined) && (missing0 = "steering"))){
validate83.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pid !== undefined){
let data0 = data.pid;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate83.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 1 || isNaN(data0)){
validate83.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ticks !== undefined){
let data1 = data.start_ticks;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate83.errors = [{instancePath:instancePath+"/start_ticks",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate83.errors = [{instancePath:instancePath+"/start_ticks",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs5 = errors;
if(typeof data.name !== "string"){
validate83.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steering !== undefined){
const _errs7 = errors;
if(!(validate62(data.steering, {instancePath:instancePath+"/steering"}))){
vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate83.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate83.errors = vErrors;
return errors === 0;
}
function validate36(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((data.id === undefined) && (missing0 = "id")) || ((data.host === undefined) && (missing0 = "host"))) || ((data.process === undefined) && (missing0 = "process"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.rate_hz === undefined) && (missing0 = "rate_hz"))) || ((data.attached_unix_us === undefined) && (missing0 = "attached_unix_us"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.energy === undefined) && (missing0 = "energy"))) || ((data.fields === undefined) && (missing0 = "fields"))) || ((data.absent === undefined) && (missing0 = "absent"))) || ((data.gomaxprocs === undefined) && (missing0 = "gomaxprocs"))) || ((data.gomaxprocs_reason === undefined) && (missing0 = "gomaxprocs_reason"))) || ((data.steering === undefined) && (missing0 = "steering"))){
validate36.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate36.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.host !== undefined){
const _errs3 = errors;
if(typeof data.host !== "string"){
validate36.errors = [{instancePath:instancePath+"/host",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.process !== undefined){
const _errs5 = errors;
if(!(validate37(data.process, {instancePath:instancePath+"/process"}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data3 = data.group;
const _errs6 = errors;
const _errs7 = errors;
let valid1 = false;
const _errs8 = errors;
if(!(validate45(data3, {instancePath:instancePath+"/group"}))){
vErrors = vErrors === null ? validate45.errors : vErrors.concat(validate45.errors);
errors = vErrors.length;
}
var _valid0 = _errs8 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs9 = errors;
if(data3 !== null){
const err0 = {instancePath:instancePath+"/group",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/group",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate36.errors = vErrors;
return false;
}
else {
errors = _errs7;
if(vErrors !== null){
if(_errs7){
vErrors.length = _errs7;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
const _errs11 = errors;
if(!(validate49(data.state, {instancePath:instancePath+"/state"}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rate_hz !== undefined){
let data5 = data.rate_hz;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data5 == "number"){
if(data5 < 1 || isNaN(data5)){
validate36.errors = [{instancePath:instancePath+"/rate_hz",keyword:"minimum"}];
return false;
}
}
else {
validate36.errors = [{instancePath:instancePath+"/rate_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attached_unix_us !== undefined){
let data6 = data.attached_unix_us;
const _errs14 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate36.errors = [{instancePath:instancePath+"/attached_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs14){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate36.errors = [{instancePath:instancePath+"/attached_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
const _errs16 = errors;
if(!(validate51(data.source, {instancePath:instancePath+"/source"}))){
vErrors = vErrors === null ? validate51.errors : vErrors.concat(validate51.errors);
errors = vErrors.length;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.energy !== undefined){
const _errs17 = errors;
if(!(validate54(data.energy, {instancePath:instancePath+"/energy"}))){
vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
errors = vErrors.length;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.fields !== undefined){
let data9 = data.fields;
const _errs18 = errors;
if(errors === _errs18){
if(Array.isArray(data9)){
var valid2 = true;
const len0 = data9.length;
for(let i0=0; i0<len0; i0++){
const _errs20 = errors;
if(typeof data9[i0] !== "string"){
validate36.errors = [{instancePath:instancePath+"/fields/" + i0,keyword:"type"}];
return false;
}
var valid2 = _errs20 === errors;
if(!valid2){
break;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/fields",keyword:"type"}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.absent !== undefined){
let data11 = data.absent;
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data11)){
var valid3 = true;
const len1 = data11.length;
for(let i1=0; i1<len1; i1++){
const _errs24 = errors;
if(!(validate58(data11[i1], {instancePath:instancePath+"/absent/" + i1}))){
vErrors = vErrors === null ? validate58.errors : vErrors.concat(validate58.errors);
errors = vErrors.length;
}
var valid3 = _errs24 === errors;
if(!valid3){
break;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/absent",keyword:"type"}];
return false;
}
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gomaxprocs !== undefined){
let data13 = data.gomaxprocs;
const _errs25 = errors;
if((!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))) && (data13 !== null)){
validate36.errors = [{instancePath:instancePath+"/gomaxprocs",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate36.errors = [{instancePath:instancePath+"/gomaxprocs",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gomaxprocs_reason !== undefined){
const _errs27 = errors;
if(typeof data.gomaxprocs_reason !== "string"){
validate36.errors = [{instancePath:instancePath+"/gomaxprocs_reason",keyword:"type"}];
return false;
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.thread_names !== undefined){
let data15 = data.thread_names;
const _errs29 = errors;
if((typeof data15 !== "string") && (data15 !== null)){
validate36.errors = [{instancePath:instancePath+"/thread_names",keyword:"type"}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role_rules !== undefined){
let data16 = data.role_rules;
const _errs31 = errors;
if((!(Array.isArray(data16))) && (data16 !== null)){
validate36.errors = [{instancePath:instancePath+"/role_rules",keyword:"type"}];
return false;
}
if(errors === _errs31){
if(Array.isArray(data16)){
var valid4 = true;
const len2 = data16.length;
for(let i2=0; i2<len2; i2++){
const _errs33 = errors;
if(!(validate60(data16[i2], {instancePath:instancePath+"/role_rules/" + i2}))){
vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
errors = vErrors.length;
}
var valid4 = _errs33 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steering !== undefined){
let data18 = data.steering;
const _errs34 = errors;
const _errs35 = errors;
let valid5 = false;
const _errs36 = errors;
if(!(validate62(data18, {instancePath:instancePath+"/steering"}))){
vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
errors = vErrors.length;
}
var _valid1 = _errs36 === errors;
valid5 = valid5 || _valid1;
if(!valid5){
const _errs37 = errors;
if(data18 !== null){
const err2 = {instancePath:instancePath+"/steering",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs37 === errors;
valid5 = valid5 || _valid1;
}
if(!valid5){
const err3 = {instancePath:instancePath+"/steering",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate36.errors = vErrors;
return false;
}
else {
errors = _errs35;
if(vErrors !== null){
if(_errs35){
vErrors.length = _errs35;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs34 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.programs !== undefined){
let data19 = data.programs;
const _errs39 = errors;
const _errs40 = errors;
let valid6 = false;
const _errs41 = errors;
if(errors === _errs41){
if(Array.isArray(data19)){
var valid7 = true;
const len3 = data19.length;
for(let i3=0; i3<len3; i3++){
const _errs43 = errors;
if(!(validate83(data19[i3], {instancePath:instancePath+"/programs/" + i3}))){
vErrors = vErrors === null ? validate83.errors : vErrors.concat(validate83.errors);
errors = vErrors.length;
}
var valid7 = _errs43 === errors;
if(!valid7){
break;
}
}
}
else {
const err4 = {instancePath:instancePath+"/programs",keyword:"type"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid2 = _errs41 === errors;
valid6 = valid6 || _valid2;
if(!valid6){
const _errs44 = errors;
if(data19 !== null){
const err5 = {instancePath:instancePath+"/programs",keyword:"type"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
var _valid2 = _errs44 === errors;
valid6 = valid6 || _valid2;
}
if(!valid6){
const err6 = {instancePath:instancePath+"/programs",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
validate36.errors = vErrors;
return false;
}
else {
errors = _errs40;
if(vErrors !== null){
if(_errs40){
vErrors.length = _errs40;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.programs_join !== undefined){
const _errs46 = errors;
if(typeof data.programs_join !== "boolean"){
validate36.errors = [{instancePath:instancePath+"/programs_join",keyword:"type"}];
return false;
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.continues !== undefined){
let data22 = data.continues;
const _errs48 = errors;
if((typeof data22 !== "string") && (data22 !== null)){
validate36.errors = [{instancePath:instancePath+"/continues",keyword:"type"}];
return false;
}
var valid0 = _errs48 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate36.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate36.errors = vErrors;
return errors === 0;
}
function validate87(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.run === undefined) && (missing0 = "run")) || ((data.target === undefined) && (missing0 = "target"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.created_unix_us === undefined) && (missing0 = "created_unix_us"))){
validate87.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.run !== undefined){
const _errs1 = errors;
if(typeof data.run !== "string"){
validate87.errors = [{instancePath:instancePath+"/run",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target !== undefined){
const _errs3 = errors;
if(typeof data.target !== "string"){
validate87.errors = [{instancePath:instancePath+"/target",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs5 = errors;
if(typeof data.name !== "string"){
validate87.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.created_unix_us !== undefined){
let data3 = data.created_unix_us;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate87.errors = [{instancePath:instancePath+"/created_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate87.errors = [{instancePath:instancePath+"/created_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate87.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate87.errors = vErrors;
return errors === 0;
}
function validate23(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.type === undefined) && (missing0 = "type")) || ((data.hosts === undefined) && (missing0 = "hosts"))) || ((data.targets === undefined) && (missing0 = "targets"))){
validate23.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate23.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("live_state" !== data0){
validate23.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.hosts !== undefined){
let data1 = data.hosts;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate24(data1[i0], {instancePath:instancePath+"/hosts/" + i0}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/hosts",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.targets !== undefined){
let data3 = data.targets;
const _errs6 = errors;
if(errors === _errs6){
if(Array.isArray(data3)){
var valid2 = true;
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
const _errs8 = errors;
if(!(validate36(data3[i1], {instancePath:instancePath+"/targets/" + i1}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
var valid2 = _errs8 === errors;
if(!valid2){
break;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/targets",keyword:"type"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recordings !== undefined){
let data5 = data.recordings;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data5)){
var valid3 = true;
const len2 = data5.length;
for(let i2=0; i2<len2; i2++){
const _errs11 = errors;
if(!(validate87(data5[i2], {instancePath:instancePath+"/recordings/" + i2}))){
vErrors = vErrors === null ? validate87.errors : vErrors.concat(validate87.errors);
errors = vErrors.length;
}
var valid3 = _errs11 === errors;
if(!valid3){
break;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/recordings",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate23.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate23.errors = vErrors;
return errors === 0;
}
function validate89(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.type === undefined) && (missing0 = "type")) || ((data.sent === undefined) && (missing0 = "sent"))) || ((data.coalesced === undefined) && (missing0 = "coalesced"))) || ((data.dropped === undefined) && (missing0 = "dropped"))) || ((data.queue === undefined) && (missing0 = "queue"))) || ((data.clients === undefined) && (missing0 = "clients"))){
validate89.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate89.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("stream_stats" !== data0){
validate89.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sent !== undefined){
let data1 = data.sent;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate89.errors = [{instancePath:instancePath+"/sent",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate89.errors = [{instancePath:instancePath+"/sent",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coalesced !== undefined){
let data2 = data.coalesced;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate89.errors = [{instancePath:instancePath+"/coalesced",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate89.errors = [{instancePath:instancePath+"/coalesced",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.dropped !== undefined){
let data3 = data.dropped;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate89.errors = [{instancePath:instancePath+"/dropped",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate89.errors = [{instancePath:instancePath+"/dropped",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.queue !== undefined){
let data4 = data.queue;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate89.errors = [{instancePath:instancePath+"/queue",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate89.errors = [{instancePath:instancePath+"/queue",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.clients !== undefined){
let data5 = data.clients;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate89.errors = [{instancePath:instancePath+"/clients",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate89.errors = [{instancePath:instancePath+"/clients",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate89.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate89.errors = vErrors;
return errors === 0;
}
function validate90(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.type === undefined) && (missing0 = "type")) || ((data.target === undefined) && (missing0 = "target"))) || ((data.from_seq === undefined) && (missing0 = "from_seq"))) || ((data.to_seq === undefined) && (missing0 = "to_seq"))) || ((data.reason === undefined) && (missing0 = "reason"))){
validate90.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate90.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("frames_lost" !== data0){
validate90.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target !== undefined){
const _errs3 = errors;
if(typeof data.target !== "string"){
validate90.errors = [{instancePath:instancePath+"/target",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from_seq !== undefined){
let data2 = data.from_seq;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate90.errors = [{instancePath:instancePath+"/from_seq",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate90.errors = [{instancePath:instancePath+"/from_seq",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to_seq !== undefined){
let data3 = data.to_seq;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate90.errors = [{instancePath:instancePath+"/to_seq",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate90.errors = [{instancePath:instancePath+"/to_seq",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs9 = errors;
if(typeof data.reason !== "string"){
validate90.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate90.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate90.errors = vErrors;
return errors === 0;
}
function validate91(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.problem === undefined) && (missing0 = "problem"))){
validate91.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate91.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("live_problem" !== data0){
validate91.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.problem !== undefined){
const _errs3 = errors;
if(!(validate40(data.problem, {instancePath:instancePath+"/problem"}))){
vErrors = vErrors === null ? validate40.errors : vErrors.concat(validate40.errors);
errors = vErrors.length;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate91.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate91.errors = vErrors;
return errors === 0;
}
function validate22(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const tag0 = data.type;
if(typeof tag0 == "string"){
if(tag0 === "live_state"){
if(!(validate23(data, {instancePath}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
}
else if(tag0 === "stream_stats"){
if(!(validate89(data, {instancePath}))){
vErrors = vErrors === null ? validate89.errors : vErrors.concat(validate89.errors);
errors = vErrors.length;
}
}
else if(tag0 === "frames_lost"){
if(!(validate90(data, {instancePath}))){
vErrors = vErrors === null ? validate90.errors : vErrors.concat(validate90.errors);
errors = vErrors.length;
}
}
else if(tag0 === "live_problem"){
if(!(validate91(data, {instancePath}))){
vErrors = vErrors === null ? validate91.errors : vErrors.concat(validate91.errors);
errors = vErrors.length;
}
}
else {
validate22.errors = [{instancePath,keyword:"discriminator"}];
return false;
}
}
else {
validate22.errors = [{instancePath,keyword:"discriminator"}];
return false;
}
}
}
validate22.errors = vErrors;
return errors === 0;
}
export const isFrameHeader = validate97;
function validate99(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.type === undefined) && (missing0 = "type")) || ((data.tid === undefined) && (missing0 = "tid"))) || ((data.start_ns === undefined) && (missing0 = "start_ns"))) || ((data.name === undefined) && (missing0 = "name"))){
validate99.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate99.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("thread_born" !== data0){
validate99.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tid !== undefined){
let data1 = data.tid;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate99.errors = [{instancePath:instancePath+"/tid",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate99.errors = [{instancePath:instancePath+"/tid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ns !== undefined){
let data2 = data.start_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate99.errors = [{instancePath:instancePath+"/start_ns",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs7 = errors;
if(typeof data.name !== "string"){
validate99.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data4 = data.pid;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate99.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate99.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate99.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate99.errors = vErrors;
return errors === 0;
}
function validate100(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.type === undefined) && (missing0 = "type")) || ((data.tid === undefined) && (missing0 = "tid"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.previous === undefined) && (missing0 = "previous"))){
validate100.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate100.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("thread_renamed" !== data0){
validate100.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tid !== undefined){
let data1 = data.tid;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate100.errors = [{instancePath:instancePath+"/tid",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate100.errors = [{instancePath:instancePath+"/tid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs5 = errors;
if(typeof data.name !== "string"){
validate100.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous !== undefined){
const _errs7 = errors;
if(typeof data.previous !== "string"){
validate100.errors = [{instancePath:instancePath+"/previous",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data4 = data.pid;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate100.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate100.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate100.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate100.errors = vErrors;
return errors === 0;
}
function validate101(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.type === undefined) && (missing0 = "type")) || ((data.tid === undefined) && (missing0 = "tid"))) || ((data.start_ns === undefined) && (missing0 = "start_ns"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.totals === undefined) && (missing0 = "totals"))) || ((data.exact === undefined) && (missing0 = "exact"))) || ((data.seen_alive === undefined) && (missing0 = "seen_alive"))){
validate101.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate101.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("thread_exited" !== data0){
validate101.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tid !== undefined){
let data1 = data.tid;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate101.errors = [{instancePath:instancePath+"/tid",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate101.errors = [{instancePath:instancePath+"/tid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ns !== undefined){
let data2 = data.start_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate101.errors = [{instancePath:instancePath+"/start_ns",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs7 = errors;
if(typeof data.name !== "string"){
validate101.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.totals !== undefined){
let data4 = data.totals;
const _errs9 = errors;
if(errors === _errs9){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key0 in data4){
let data5 = data4[key0];
const _errs12 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate101.errors = [{instancePath:instancePath+"/totals/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type"}];
return false;
}
if(errors === _errs12){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate101.errors = [{instancePath:instancePath+"/totals/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"minimum"}];
return false;
}
}
}
var valid1 = _errs12 === errors;
if(!valid1){
break;
}
}
}
else {
validate101.errors = [{instancePath:instancePath+"/totals",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exact !== undefined){
const _errs14 = errors;
if(typeof data.exact !== "boolean"){
validate101.errors = [{instancePath:instancePath+"/exact",keyword:"type"}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.seen_alive !== undefined){
const _errs16 = errors;
if(typeof data.seen_alive !== "boolean"){
validate101.errors = [{instancePath:instancePath+"/seen_alive",keyword:"type"}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lifetime_ns !== undefined){
let data8 = data.lifetime_ns;
const _errs18 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate101.errors = [{instancePath:instancePath+"/lifetime_ns",keyword:"type"}];
return false;
}
if(errors === _errs18){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate101.errors = [{instancePath:instancePath+"/lifetime_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data9 = data.pid;
const _errs20 = errors;
if((!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))) && (data9 !== null)){
validate101.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs20){
if(typeof data9 == "number"){
if(data9 < 1 || isNaN(data9)){
validate101.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.inexact !== undefined){
let data10 = data.inexact;
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data10)){
var valid2 = true;
const len0 = data10.length;
for(let i0=0; i0<len0; i0++){
const _errs24 = errors;
if(typeof data10[i0] !== "string"){
validate101.errors = [{instancePath:instancePath+"/inexact/" + i0,keyword:"type"}];
return false;
}
var valid2 = _errs24 === errors;
if(!valid2){
break;
}
}
}
else {
validate101.errors = [{instancePath:instancePath+"/inexact",keyword:"type"}];
return false;
}
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate101.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate101.errors = vErrors;
return errors === 0;
}
function validate102(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.exit_code === undefined) && (missing0 = "exit_code"))){
validate102.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate102.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("target_exited" !== data0){
validate102.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exit_code !== undefined){
let data1 = data.exit_code;
const _errs3 = errors;
if((!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))) && (data1 !== null)){
validate102.errors = [{instancePath:instancePath+"/exit_code",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate102.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate102.errors = vErrors;
return errors === 0;
}
function validate103(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.type === undefined) && (missing0 = "type")){
validate103.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
validate103.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("target_detached" !== data0){
validate103.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
}
}
}
else {
validate103.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate103.errors = vErrors;
return errors === 0;
}
function validate104(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.type === undefined) && (missing0 = "type")) || ((data.rate_hz === undefined) && (missing0 = "rate_hz"))) || ((data.previous_hz === undefined) && (missing0 = "previous_hz"))){
validate104.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate104.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("rate_changed" !== data0){
validate104.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rate_hz !== undefined){
let data1 = data.rate_hz;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate104.errors = [{instancePath:instancePath+"/rate_hz",keyword:"minimum"}];
return false;
}
}
else {
validate104.errors = [{instancePath:instancePath+"/rate_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous_hz !== undefined){
let data2 = data.previous_hz;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate104.errors = [{instancePath:instancePath+"/previous_hz",keyword:"minimum"}];
return false;
}
}
else {
validate104.errors = [{instancePath:instancePath+"/previous_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate104.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate104.errors = vErrors;
return errors === 0;
}
function validate105(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.type === undefined) && (missing0 = "type")) || ((data.rate_hz === undefined) && (missing0 = "rate_hz"))) || ((data.previous_hz === undefined) && (missing0 = "previous_hz"))) || ((data.requested_hz === undefined) && (missing0 = "requested_hz"))) || ((data.overhead_percent === undefined) && (missing0 = "overhead_percent"))) || ((data.budget_percent === undefined) && (missing0 = "budget_percent"))){
validate105.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate105.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("rate_adapted" !== data0){
validate105.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rate_hz !== undefined){
let data1 = data.rate_hz;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate105.errors = [{instancePath:instancePath+"/rate_hz",keyword:"minimum"}];
return false;
}
}
else {
validate105.errors = [{instancePath:instancePath+"/rate_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous_hz !== undefined){
let data2 = data.previous_hz;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate105.errors = [{instancePath:instancePath+"/previous_hz",keyword:"minimum"}];
return false;
}
}
else {
validate105.errors = [{instancePath:instancePath+"/previous_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.requested_hz !== undefined){
let data3 = data.requested_hz;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate105.errors = [{instancePath:instancePath+"/requested_hz",keyword:"minimum"}];
return false;
}
}
else {
validate105.errors = [{instancePath:instancePath+"/requested_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.overhead_percent !== undefined){
let data4 = data.overhead_percent;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate105.errors = [{instancePath:instancePath+"/overhead_percent",keyword:"minimum"}];
return false;
}
}
else {
validate105.errors = [{instancePath:instancePath+"/overhead_percent",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.budget_percent !== undefined){
let data5 = data.budget_percent;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate105.errors = [{instancePath:instancePath+"/budget_percent",keyword:"minimum"}];
return false;
}
}
else {
validate105.errors = [{instancePath:instancePath+"/budget_percent",keyword:"type"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.undelivered_bytes !== undefined){
let data6 = data.undelivered_bytes;
const _errs13 = errors;
if((!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))) && (data6 !== null)){
validate105.errors = [{instancePath:instancePath+"/undelivered_bytes",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate105.errors = [{instancePath:instancePath+"/undelivered_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate105.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate105.errors = vErrors;
return errors === 0;
}
function validate106(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.count === undefined) && (missing0 = "count"))){
validate106.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate106.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("deadlines_missed" !== data0){
validate106.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.count !== undefined){
let data1 = data.count;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate106.errors = [{instancePath:instancePath+"/count",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate106.errors = [{instancePath:instancePath+"/count",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate106.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate106.errors = vErrors;
return errors === 0;
}
function validate107(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.count === undefined) && (missing0 = "count"))){
validate107.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate107.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("exit_records_lost" !== data0){
validate107.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.count !== undefined){
let data1 = data.count;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate107.errors = [{instancePath:instancePath+"/count",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate107.errors = [{instancePath:instancePath+"/count",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate107.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate107.errors = vErrors;
return errors === 0;
}
function validate108(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.type === undefined) && (missing0 = "type")) || ((data.from_seq === undefined) && (missing0 = "from_seq"))) || ((data.to_seq === undefined) && (missing0 = "to_seq"))) || ((data.reason === undefined) && (missing0 = "reason"))){
validate108.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate108.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("gap" !== data0){
validate108.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from_seq !== undefined){
let data1 = data.from_seq;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate108.errors = [{instancePath:instancePath+"/from_seq",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate108.errors = [{instancePath:instancePath+"/from_seq",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to_seq !== undefined){
let data2 = data.to_seq;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate108.errors = [{instancePath:instancePath+"/to_seq",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate108.errors = [{instancePath:instancePath+"/to_seq",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs7 = errors;
if(typeof data.reason !== "string"){
validate108.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate108.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate108.errors = vErrors;
return errors === 0;
}
function validate109(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.type === undefined) && (missing0 = "type")) || ((data.size === undefined) && (missing0 = "size"))) || ((data.previous === undefined) && (missing0 = "previous"))){
validate109.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate109.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("gomaxprocs_changed" !== data0){
validate109.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data1 = data.size;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate109.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 1 || isNaN(data1)){
validate109.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous !== undefined){
let data2 = data.previous;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate109.errors = [{instancePath:instancePath+"/previous",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate109.errors = [{instancePath:instancePath+"/previous",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data3 = data.pid;
const _errs7 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate109.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate109.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate109.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate109.errors = vErrors;
return errors === 0;
}
function validate110(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.type === undefined) && (missing0 = "type")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.executable === undefined) && (missing0 = "executable"))) || ((data.previous === undefined) && (missing0 = "previous"))){
validate110.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate110.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("program_executed" !== data0){
validate110.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate110.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.executable !== undefined){
let data2 = data.executable;
const _errs5 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate110.errors = [{instancePath:instancePath+"/executable",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous !== undefined){
let data3 = data.previous;
const _errs7 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate110.errors = [{instancePath:instancePath+"/previous",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data4 = data.pid;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate110.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate110.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate110.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate110.errors = vErrors;
return errors === 0;
}
function validate111(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.reason === undefined) && (missing0 = "reason"))){
validate111.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate111.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("sample_failed" !== data0){
validate111.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs3 = errors;
if(typeof data.reason !== "string"){
validate111.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate111.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate111.errors = vErrors;
return errors === 0;
}
function validate113(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate113.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((data === "genetlink") || (data === "walk")) || (data === "procfs"))){
validate113.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate113.errors = vErrors;
return errors === 0;
}
function validate112(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.type === undefined) && (missing0 = "type")) || ((data.source === undefined) && (missing0 = "source"))) || ((data.previous === undefined) && (missing0 = "previous"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.disagreed === undefined) && (missing0 = "disagreed"))){
validate112.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate112.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("counters_source_changed" !== data0){
validate112.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
const _errs3 = errors;
if(!(validate113(data.source, {instancePath:instancePath+"/source"}))){
vErrors = vErrors === null ? validate113.errors : vErrors.concat(validate113.errors);
errors = vErrors.length;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous !== undefined){
const _errs4 = errors;
if(!(validate113(data.previous, {instancePath:instancePath+"/previous"}))){
vErrors = vErrors === null ? validate113.errors : vErrors.concat(validate113.errors);
errors = vErrors.length;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs5 = errors;
if(typeof data.reason !== "string"){
validate112.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.disagreed !== undefined){
const _errs7 = errors;
if(typeof data.disagreed !== "boolean"){
validate112.errors = [{instancePath:instancePath+"/disagreed",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate112.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate112.errors = vErrors;
return errors === 0;
}
function validate116(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.shadow === undefined) && (missing0 = "shadow"))) || ((data.knob === undefined) && (missing0 = "knob"))) || ((data.signal === undefined) && (missing0 = "signal"))) || ((data.proxy === undefined) && (missing0 = "proxy"))) || ((data.lower === undefined) && (missing0 = "lower"))) || ((data.upper === undefined) && (missing0 = "upper"))) || ((data.size === undefined) && (missing0 = "size"))) || ((data.actor === undefined) && (missing0 = "actor"))){
validate116.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate116.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("steering_started" !== data0){
validate116.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate116.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.shadow !== undefined){
const _errs5 = errors;
if(typeof data.shadow !== "boolean"){
validate116.errors = [{instancePath:instancePath+"/shadow",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knob !== undefined){
const _errs7 = errors;
if(!(validate63(data.knob, {instancePath:instancePath+"/knob"}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signal !== undefined){
const _errs8 = errors;
if(!(validate65(data.signal, {instancePath:instancePath+"/signal"}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proxy !== undefined){
const _errs9 = errors;
if(typeof data.proxy !== "boolean"){
validate116.errors = [{instancePath:instancePath+"/proxy",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lower !== undefined){
let data6 = data.lower;
const _errs11 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate116.errors = [{instancePath:instancePath+"/lower",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data6 == "number"){
if(data6 < 1 || isNaN(data6)){
validate116.errors = [{instancePath:instancePath+"/lower",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upper !== undefined){
let data7 = data.upper;
const _errs13 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate116.errors = [{instancePath:instancePath+"/upper",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data7 == "number"){
if(data7 < 1 || isNaN(data7)){
validate116.errors = [{instancePath:instancePath+"/upper",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data8 = data.size;
const _errs15 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate116.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data8 == "number"){
if(data8 < 1 || isNaN(data8)){
validate116.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.actor !== undefined){
const _errs17 = errors;
if(typeof data.actor !== "string"){
validate116.errors = [{instancePath:instancePath+"/actor",keyword:"type"}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data10 = data.pid;
const _errs19 = errors;
if((!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))) && (data10 !== null)){
validate116.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data10 == "number"){
if(data10 < 1 || isNaN(data10)){
validate116.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.program !== undefined){
let data11 = data.program;
const _errs21 = errors;
if((typeof data11 !== "string") && (data11 !== null)){
validate116.errors = [{instancePath:instancePath+"/program",keyword:"type"}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate116.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate116.errors = vErrors;
return errors === 0;
}
function validate119(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.number === undefined) && (missing0 = "number"))) || ((data.at_ns === undefined) && (missing0 = "at_ns"))) || ((data.elapsed_s === undefined) && (missing0 = "elapsed_s"))) || ((data.ops === undefined) && (missing0 = "ops"))) || ((data.mean_wait_s === undefined) && (missing0 = "mean_wait_s"))) || ((data.size === undefined) && (missing0 = "size"))) || ((data.next_size === undefined) && (missing0 = "next_size"))) || ((data.proposed === undefined) && (missing0 = "proposed"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.counted === undefined) && (missing0 = "counted"))) || ((data.probing === undefined) && (missing0 = "probing"))){
validate119.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate119.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("steering_decided" !== data0){
validate119.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate119.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.number !== undefined){
let data2 = data.number;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate119.errors = [{instancePath:instancePath+"/number",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate119.errors = [{instancePath:instancePath+"/number",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.at_ns !== undefined){
let data3 = data.at_ns;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate119.errors = [{instancePath:instancePath+"/at_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate119.errors = [{instancePath:instancePath+"/at_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.elapsed_s !== undefined){
let data4 = data.elapsed_s;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate119.errors = [{instancePath:instancePath+"/elapsed_s",keyword:"minimum"}];
return false;
}
}
else {
validate119.errors = [{instancePath:instancePath+"/elapsed_s",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ops !== undefined){
let data5 = data.ops;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate119.errors = [{instancePath:instancePath+"/ops",keyword:"minimum"}];
return false;
}
}
else {
validate119.errors = [{instancePath:instancePath+"/ops",keyword:"type"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mean_wait_s !== undefined){
let data6 = data.mean_wait_s;
const _errs13 = errors;
if((!(typeof data6 == "number")) && (data6 !== null)){
validate119.errors = [{instancePath:instancePath+"/mean_wait_s",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate119.errors = [{instancePath:instancePath+"/mean_wait_s",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data7 = data.size;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate119.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 1 || isNaN(data7)){
validate119.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.next_size !== undefined){
let data8 = data.next_size;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate119.errors = [{instancePath:instancePath+"/next_size",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 1 || isNaN(data8)){
validate119.errors = [{instancePath:instancePath+"/next_size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proposed !== undefined){
let data9 = data.proposed;
const _errs19 = errors;
if((!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))) && (data9 !== null)){
validate119.errors = [{instancePath:instancePath+"/proposed",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 1 || isNaN(data9)){
validate119.errors = [{instancePath:instancePath+"/proposed",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
const _errs21 = errors;
if(typeof data.state !== "string"){
validate119.errors = [{instancePath:instancePath+"/state",keyword:"type"}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs23 = errors;
if(typeof data.reason !== "string"){
validate119.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counted !== undefined){
const _errs25 = errors;
if(typeof data.counted !== "boolean"){
validate119.errors = [{instancePath:instancePath+"/counted",keyword:"type"}];
return false;
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.probing !== undefined){
const _errs27 = errors;
if(typeof data.probing !== "boolean"){
validate119.errors = [{instancePath:instancePath+"/probing",keyword:"type"}];
return false;
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.deferred !== undefined){
const _errs29 = errors;
if(typeof data.deferred !== "boolean"){
validate119.errors = [{instancePath:instancePath+"/deferred",keyword:"type"}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.with_policy !== undefined){
let data15 = data.with_policy;
const _errs31 = errors;
if((typeof data15 !== "boolean") && (data15 !== null)){
validate119.errors = [{instancePath:instancePath+"/with_policy",keyword:"type"}];
return false;
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gain !== undefined){
let data16 = data.gain;
const _errs33 = errors;
const _errs34 = errors;
let valid1 = false;
const _errs35 = errors;
if(!(validate70(data16, {instancePath:instancePath+"/gain"}))){
vErrors = vErrors === null ? validate70.errors : vErrors.concat(validate70.errors);
errors = vErrors.length;
}
var _valid0 = _errs35 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs36 = errors;
if(data16 !== null){
const err0 = {instancePath:instancePath+"/gain",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs36 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/gain",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate119.errors = vErrors;
return false;
}
else {
errors = _errs34;
if(vErrors !== null){
if(_errs34){
vErrors.length = _errs34;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data17 = data.pid;
const _errs38 = errors;
if((!((typeof data17 == "number") && (!(data17 % 1) && !isNaN(data17)))) && (data17 !== null)){
validate119.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs38){
if(typeof data17 == "number"){
if(data17 < 1 || isNaN(data17)){
validate119.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs38 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.program !== undefined){
let data18 = data.program;
const _errs40 = errors;
if((typeof data18 !== "string") && (data18 !== null)){
validate119.errors = [{instancePath:instancePath+"/program",keyword:"type"}];
return false;
}
var valid0 = _errs40 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.division !== undefined){
let data19 = data.division;
const _errs42 = errors;
const _errs43 = errors;
let valid2 = false;
const _errs44 = errors;
if(!(validate73(data19, {instancePath:instancePath+"/division"}))){
vErrors = vErrors === null ? validate73.errors : vErrors.concat(validate73.errors);
errors = vErrors.length;
}
var _valid1 = _errs44 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs45 = errors;
if(data19 !== null){
const err2 = {instancePath:instancePath+"/division",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs45 === errors;
valid2 = valid2 || _valid1;
}
if(!valid2){
const err3 = {instancePath:instancePath+"/division",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate119.errors = vErrors;
return false;
}
else {
errors = _errs43;
if(vErrors !== null){
if(_errs43){
vErrors.length = _errs43;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs42 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate119.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate119.errors = vErrors;
return errors === 0;
}
function validate122(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.reason === undefined) && (missing0 = "reason"))) || ((data.actor === undefined) && (missing0 = "actor"))){
validate122.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate122.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("search_restarted" !== data0){
validate122.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate122.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs5 = errors;
if(typeof data.reason !== "string"){
validate122.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.actor !== undefined){
const _errs7 = errors;
if(typeof data.actor !== "string"){
validate122.errors = [{instancePath:instancePath+"/actor",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data4 = data.pid;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate122.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate122.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.program !== undefined){
let data5 = data.program;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate122.errors = [{instancePath:instancePath+"/program",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate122.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate122.errors = vErrors;
return errors === 0;
}
function validate123(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.size === undefined) && (missing0 = "size"))) || ((data.actor === undefined) && (missing0 = "actor"))){
validate123.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate123.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("steering_released" !== data0){
validate123.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate123.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data2 = data.size;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate123.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate123.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.actor !== undefined){
const _errs7 = errors;
if(typeof data.actor !== "string"){
validate123.errors = [{instancePath:instancePath+"/actor",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data4 = data.pid;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate123.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate123.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.program !== undefined){
let data5 = data.program;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate123.errors = [{instancePath:instancePath+"/program",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate123.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate123.errors = vErrors;
return errors === 0;
}
function validate124(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.problem === undefined) && (missing0 = "problem"))){
validate124.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate124.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("steering_problem" !== data0){
validate124.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate124.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.problem !== undefined){
let data2 = data.problem;
const _errs5 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate124.errors = [{instancePath:instancePath+"/problem",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data3 = data.pid;
const _errs7 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate124.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate124.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.program !== undefined){
let data4 = data.program;
const _errs9 = errors;
if((typeof data4 !== "string") && (data4 !== null)){
validate124.errors = [{instancePath:instancePath+"/program",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate124.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate124.errors = vErrors;
return errors === 0;
}
function validate125(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.proof === undefined) && (missing0 = "proof"))){
validate125.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate125.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("steering_proven" !== data0){
validate125.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate125.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proof !== undefined){
const _errs5 = errors;
if(!(validate67(data.proof, {instancePath:instancePath+"/proof"}))){
vErrors = vErrors === null ? validate67.errors : vErrors.concat(validate67.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate125.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate125.errors = vErrors;
return errors === 0;
}
function validate127(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.type === undefined) && (missing0 = "type")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.sweep === undefined) && (missing0 = "sweep"))){
validate127.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate127.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("steering_swept" !== data0){
validate127.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate127.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sweep !== undefined){
const _errs5 = errors;
if(!(validate75(data.sweep, {instancePath:instancePath+"/sweep"}))){
vErrors = vErrors === null ? validate75.errors : vErrors.concat(validate75.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate127.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate127.errors = vErrors;
return errors === 0;
}
function validate98(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const tag0 = data.type;
if(typeof tag0 == "string"){
if(tag0 === "thread_born"){
if(!(validate99(data, {instancePath}))){
vErrors = vErrors === null ? validate99.errors : vErrors.concat(validate99.errors);
errors = vErrors.length;
}
}
else if(tag0 === "thread_renamed"){
if(!(validate100(data, {instancePath}))){
vErrors = vErrors === null ? validate100.errors : vErrors.concat(validate100.errors);
errors = vErrors.length;
}
}
else if(tag0 === "thread_exited"){
if(!(validate101(data, {instancePath}))){
vErrors = vErrors === null ? validate101.errors : vErrors.concat(validate101.errors);
errors = vErrors.length;
}
}
else if(tag0 === "target_exited"){
if(!(validate102(data, {instancePath}))){
vErrors = vErrors === null ? validate102.errors : vErrors.concat(validate102.errors);
errors = vErrors.length;
}
}
else if(tag0 === "target_detached"){
if(!(validate103(data, {instancePath}))){
vErrors = vErrors === null ? validate103.errors : vErrors.concat(validate103.errors);
errors = vErrors.length;
}
}
else if(tag0 === "rate_changed"){
if(!(validate104(data, {instancePath}))){
vErrors = vErrors === null ? validate104.errors : vErrors.concat(validate104.errors);
errors = vErrors.length;
}
}
else if(tag0 === "rate_adapted"){
if(!(validate105(data, {instancePath}))){
vErrors = vErrors === null ? validate105.errors : vErrors.concat(validate105.errors);
errors = vErrors.length;
}
}
else if(tag0 === "deadlines_missed"){
if(!(validate106(data, {instancePath}))){
vErrors = vErrors === null ? validate106.errors : vErrors.concat(validate106.errors);
errors = vErrors.length;
}
}
else if(tag0 === "exit_records_lost"){
if(!(validate107(data, {instancePath}))){
vErrors = vErrors === null ? validate107.errors : vErrors.concat(validate107.errors);
errors = vErrors.length;
}
}
else if(tag0 === "gap"){
if(!(validate108(data, {instancePath}))){
vErrors = vErrors === null ? validate108.errors : vErrors.concat(validate108.errors);
errors = vErrors.length;
}
}
else if(tag0 === "gomaxprocs_changed"){
if(!(validate109(data, {instancePath}))){
vErrors = vErrors === null ? validate109.errors : vErrors.concat(validate109.errors);
errors = vErrors.length;
}
}
else if(tag0 === "program_executed"){
if(!(validate110(data, {instancePath}))){
vErrors = vErrors === null ? validate110.errors : vErrors.concat(validate110.errors);
errors = vErrors.length;
}
}
else if(tag0 === "sample_failed"){
if(!(validate111(data, {instancePath}))){
vErrors = vErrors === null ? validate111.errors : vErrors.concat(validate111.errors);
errors = vErrors.length;
}
}
else if(tag0 === "counters_source_changed"){
if(!(validate112(data, {instancePath}))){
vErrors = vErrors === null ? validate112.errors : vErrors.concat(validate112.errors);
errors = vErrors.length;
}
}
else if(tag0 === "steering_started"){
if(!(validate116(data, {instancePath}))){
vErrors = vErrors === null ? validate116.errors : vErrors.concat(validate116.errors);
errors = vErrors.length;
}
}
else if(tag0 === "steering_decided"){
if(!(validate119(data, {instancePath}))){
vErrors = vErrors === null ? validate119.errors : vErrors.concat(validate119.errors);
errors = vErrors.length;
}
}
else if(tag0 === "search_restarted"){
if(!(validate122(data, {instancePath}))){
vErrors = vErrors === null ? validate122.errors : vErrors.concat(validate122.errors);
errors = vErrors.length;
}
}
else if(tag0 === "steering_released"){
if(!(validate123(data, {instancePath}))){
vErrors = vErrors === null ? validate123.errors : vErrors.concat(validate123.errors);
errors = vErrors.length;
}
}
else if(tag0 === "steering_problem"){
if(!(validate124(data, {instancePath}))){
vErrors = vErrors === null ? validate124.errors : vErrors.concat(validate124.errors);
errors = vErrors.length;
}
}
else if(tag0 === "steering_proven"){
if(!(validate125(data, {instancePath}))){
vErrors = vErrors === null ? validate125.errors : vErrors.concat(validate125.errors);
errors = vErrors.length;
}
}
else if(tag0 === "steering_swept"){
if(!(validate127(data, {instancePath}))){
vErrors = vErrors === null ? validate127.errors : vErrors.concat(validate127.errors);
errors = vErrors.length;
}
}
else {
validate98.errors = [{instancePath,keyword:"discriminator"}];
return false;
}
}
else {
validate98.errors = [{instancePath,keyword:"discriminator"}];
return false;
}
}
}
validate98.errors = vErrors;
return errors === 0;
}
function validate151(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.gomaxprocs === undefined) && (missing0 = "gomaxprocs")) || ((data.rss_bytes === undefined) && (missing0 = "rss_bytes"))){
validate151.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.gomaxprocs !== undefined){
let data0 = data.gomaxprocs;
const _errs1 = errors;
if((!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))) && (data0 !== null)){
validate151.errors = [{instancePath:instancePath+"/gomaxprocs",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate151.errors = [{instancePath:instancePath+"/gomaxprocs",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gomaxprocs_missed !== undefined){
let data1 = data.gomaxprocs_missed;
const _errs3 = errors;
if((!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))) && (data1 !== null)){
validate151.errors = [{instancePath:instancePath+"/gomaxprocs_missed",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate151.errors = [{instancePath:instancePath+"/gomaxprocs_missed",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rss_bytes !== undefined){
let data2 = data.rss_bytes;
const _errs5 = errors;
if((!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))) && (data2 !== null)){
validate151.errors = [{instancePath:instancePath+"/rss_bytes",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate151.errors = [{instancePath:instancePath+"/rss_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_ns !== undefined){
let data3 = data.cpu_ns;
const _errs7 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate151.errors = [{instancePath:instancePath+"/cpu_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate151.errors = [{instancePath:instancePath+"/cpu_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.delay_accounting !== undefined){
let data4 = data.delay_accounting;
const _errs9 = errors;
if((typeof data4 !== "boolean") && (data4 !== null)){
validate151.errors = [{instancePath:instancePath+"/delay_accounting",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_limit !== undefined){
let data5 = data.cpu_limit;
const _errs11 = errors;
if((!(typeof data5 == "number")) && (data5 !== null)){
validate151.errors = [{instancePath:instancePath+"/cpu_limit",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate151.errors = [{instancePath:instancePath+"/cpu_limit",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cgroup_periods !== undefined){
let data6 = data.cgroup_periods;
const _errs13 = errors;
if((!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))) && (data6 !== null)){
validate151.errors = [{instancePath:instancePath+"/cgroup_periods",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate151.errors = [{instancePath:instancePath+"/cgroup_periods",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cgroup_throttled !== undefined){
let data7 = data.cgroup_throttled;
const _errs15 = errors;
if((!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))) && (data7 !== null)){
validate151.errors = [{instancePath:instancePath+"/cgroup_throttled",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate151.errors = [{instancePath:instancePath+"/cgroup_throttled",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cgroup_throttled_us !== undefined){
let data8 = data.cgroup_throttled_us;
const _errs17 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate151.errors = [{instancePath:instancePath+"/cgroup_throttled_us",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate151.errors = [{instancePath:instancePath+"/cgroup_throttled_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate151.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate151.errors = vErrors;
return errors === 0;
}
function validate153(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.time_ns === undefined) && (missing0 = "time_ns")) || ((data.cpu_busy_us === undefined) && (missing0 = "cpu_busy_us"))) || ((data.package_uj === undefined) && (missing0 = "package_uj"))) || ((data.domains_uj === undefined) && (missing0 = "domains_uj"))) || ((data.gaps === undefined) && (missing0 = "gaps"))){
validate153.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.time_ns !== undefined){
let data0 = data.time_ns;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate153.errors = [{instancePath:instancePath+"/time_ns",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate153.errors = [{instancePath:instancePath+"/time_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_busy_us !== undefined){
let data1 = data.cpu_busy_us;
const _errs3 = errors;
if((!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))) && (data1 !== null)){
validate153.errors = [{instancePath:instancePath+"/cpu_busy_us",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate153.errors = [{instancePath:instancePath+"/cpu_busy_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_steal_us !== undefined){
let data2 = data.cpu_steal_us;
const _errs5 = errors;
if((!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))) && (data2 !== null)){
validate153.errors = [{instancePath:instancePath+"/cpu_steal_us",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate153.errors = [{instancePath:instancePath+"/cpu_steal_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.package_uj !== undefined){
let data3 = data.package_uj;
const _errs7 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate153.errors = [{instancePath:instancePath+"/package_uj",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate153.errors = [{instancePath:instancePath+"/package_uj",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.domains_uj !== undefined){
let data4 = data.domains_uj;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data4)){
var valid1 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
const _errs11 = errors;
if((!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))) && (data5 !== null)){
validate153.errors = [{instancePath:instancePath+"/domains_uj/" + i0,keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate153.errors = [{instancePath:instancePath+"/domains_uj/" + i0,keyword:"minimum"}];
return false;
}
}
}
var valid1 = _errs11 === errors;
if(!valid1){
break;
}
}
}
else {
validate153.errors = [{instancePath:instancePath+"/domains_uj",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gaps !== undefined){
let data6 = data.gaps;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate153.errors = [{instancePath:instancePath+"/gaps",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate153.errors = [{instancePath:instancePath+"/gaps",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate153.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate153.errors = vErrors;
return errors === 0;
}
function validate155(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((((((data.sample_us === undefined) && (missing0 = "sample_us")) || ((data.sample_mean_us === undefined) && (missing0 = "sample_mean_us"))) || ((data.sample_max_us === undefined) && (missing0 = "sample_max_us"))) || ((data.late_us === undefined) && (missing0 = "late_us"))) || ((data.missed_deadlines === undefined) && (missing0 = "missed_deadlines"))) || ((data.effective_hz === undefined) && (missing0 = "effective_hz"))) || ((data.requested_hz === undefined) && (missing0 = "requested_hz"))) || ((data.exit_records_received === undefined) && (missing0 = "exit_records_received"))) || ((data.exit_records_lost === undefined) && (missing0 = "exit_records_lost"))) || ((data.cpu_percent === undefined) && (missing0 = "cpu_percent"))) || ((data.overhead_percent === undefined) && (missing0 = "overhead_percent"))) || ((data.budget_percent === undefined) && (missing0 = "budget_percent"))) || ((data.replay_bytes === undefined) && (missing0 = "replay_bytes"))) || ((data.replay_frames === undefined) && (missing0 = "replay_frames"))) || ((data.unsent_frames === undefined) && (missing0 = "unsent_frames"))) || ((data.sent_frames === undefined) && (missing0 = "sent_frames"))) || ((data.sent_bytes === undefined) && (missing0 = "sent_bytes"))){
validate155.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.sample_us !== undefined){
let data0 = data.sample_us;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate155.errors = [{instancePath:instancePath+"/sample_us",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate155.errors = [{instancePath:instancePath+"/sample_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sample_mean_us !== undefined){
let data1 = data.sample_mean_us;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate155.errors = [{instancePath:instancePath+"/sample_mean_us",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate155.errors = [{instancePath:instancePath+"/sample_mean_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sample_max_us !== undefined){
let data2 = data.sample_max_us;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate155.errors = [{instancePath:instancePath+"/sample_max_us",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate155.errors = [{instancePath:instancePath+"/sample_max_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.late_us !== undefined){
let data3 = data.late_us;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate155.errors = [{instancePath:instancePath+"/late_us",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate155.errors = [{instancePath:instancePath+"/late_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.missed_deadlines !== undefined){
let data4 = data.missed_deadlines;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate155.errors = [{instancePath:instancePath+"/missed_deadlines",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate155.errors = [{instancePath:instancePath+"/missed_deadlines",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.effective_hz !== undefined){
let data5 = data.effective_hz;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 1 || isNaN(data5)){
validate155.errors = [{instancePath:instancePath+"/effective_hz",keyword:"minimum"}];
return false;
}
}
else {
validate155.errors = [{instancePath:instancePath+"/effective_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.requested_hz !== undefined){
let data6 = data.requested_hz;
const _errs13 = errors;
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 1 || isNaN(data6)){
validate155.errors = [{instancePath:instancePath+"/requested_hz",keyword:"minimum"}];
return false;
}
}
else {
validate155.errors = [{instancePath:instancePath+"/requested_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exit_records_received !== undefined){
let data7 = data.exit_records_received;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate155.errors = [{instancePath:instancePath+"/exit_records_received",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate155.errors = [{instancePath:instancePath+"/exit_records_received",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exit_records_lost !== undefined){
let data8 = data.exit_records_lost;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate155.errors = [{instancePath:instancePath+"/exit_records_lost",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate155.errors = [{instancePath:instancePath+"/exit_records_lost",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cpu_percent !== undefined){
let data9 = data.cpu_percent;
const _errs19 = errors;
if((!(typeof data9 == "number")) && (data9 !== null)){
validate155.errors = [{instancePath:instancePath+"/cpu_percent",keyword:"type"}];
return false;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.overhead_percent !== undefined){
let data10 = data.overhead_percent;
const _errs21 = errors;
if((!(typeof data10 == "number")) && (data10 !== null)){
validate155.errors = [{instancePath:instancePath+"/overhead_percent",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate155.errors = [{instancePath:instancePath+"/overhead_percent",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.budget_percent !== undefined){
let data11 = data.budget_percent;
const _errs23 = errors;
if(errors === _errs23){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate155.errors = [{instancePath:instancePath+"/budget_percent",keyword:"minimum"}];
return false;
}
}
else {
validate155.errors = [{instancePath:instancePath+"/budget_percent",keyword:"type"}];
return false;
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.replay_bytes !== undefined){
let data12 = data.replay_bytes;
const _errs25 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate155.errors = [{instancePath:instancePath+"/replay_bytes",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate155.errors = [{instancePath:instancePath+"/replay_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.replay_frames !== undefined){
let data13 = data.replay_frames;
const _errs27 = errors;
if(!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))){
validate155.errors = [{instancePath:instancePath+"/replay_frames",keyword:"type"}];
return false;
}
if(errors === _errs27){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate155.errors = [{instancePath:instancePath+"/replay_frames",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unsent_frames !== undefined){
let data14 = data.unsent_frames;
const _errs29 = errors;
if(!((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14)))){
validate155.errors = [{instancePath:instancePath+"/unsent_frames",keyword:"type"}];
return false;
}
if(errors === _errs29){
if(typeof data14 == "number"){
if(data14 < 0 || isNaN(data14)){
validate155.errors = [{instancePath:instancePath+"/unsent_frames",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sent_frames !== undefined){
let data15 = data.sent_frames;
const _errs31 = errors;
if(!((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15)))){
validate155.errors = [{instancePath:instancePath+"/sent_frames",keyword:"type"}];
return false;
}
if(errors === _errs31){
if(typeof data15 == "number"){
if(data15 < 0 || isNaN(data15)){
validate155.errors = [{instancePath:instancePath+"/sent_frames",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sent_bytes !== undefined){
let data16 = data.sent_bytes;
const _errs33 = errors;
if(!((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16)))){
validate155.errors = [{instancePath:instancePath+"/sent_bytes",keyword:"type"}];
return false;
}
if(errors === _errs33){
if(typeof data16 == "number"){
if(data16 < 0 || isNaN(data16)){
validate155.errors = [{instancePath:instancePath+"/sent_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.slowed_by_backlog !== undefined){
const _errs35 = errors;
if(typeof data.slowed_by_backlog !== "boolean"){
validate155.errors = [{instancePath:instancePath+"/slowed_by_backlog",keyword:"type"}];
return false;
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.undelivered_bytes !== undefined){
let data18 = data.undelivered_bytes;
const _errs37 = errors;
if(!((typeof data18 == "number") && (!(data18 % 1) && !isNaN(data18)))){
validate155.errors = [{instancePath:instancePath+"/undelivered_bytes",keyword:"type"}];
return false;
}
if(errors === _errs37){
if(typeof data18 == "number"){
if(data18 < 0 || isNaN(data18)){
validate155.errors = [{instancePath:instancePath+"/undelivered_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.frames_dropped !== undefined){
let data19 = data.frames_dropped;
const _errs39 = errors;
if(!((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19)))){
validate155.errors = [{instancePath:instancePath+"/frames_dropped",keyword:"type"}];
return false;
}
if(errors === _errs39){
if(typeof data19 == "number"){
if(data19 < 0 || isNaN(data19)){
validate155.errors = [{instancePath:instancePath+"/frames_dropped",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exits_without_event !== undefined){
let data20 = data.exits_without_event;
const _errs41 = errors;
if(!((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20)))){
validate155.errors = [{instancePath:instancePath+"/exits_without_event",keyword:"type"}];
return false;
}
if(errors === _errs41){
if(typeof data20 == "number"){
if(data20 < 0 || isNaN(data20)){
validate155.errors = [{instancePath:instancePath+"/exits_without_event",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs41 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.network_calls_uncounted !== undefined){
let data21 = data.network_calls_uncounted;
const _errs43 = errors;
if(!((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21)))){
validate155.errors = [{instancePath:instancePath+"/network_calls_uncounted",keyword:"type"}];
return false;
}
if(errors === _errs43){
if(typeof data21 == "number"){
if(data21 < 0 || isNaN(data21)){
validate155.errors = [{instancePath:instancePath+"/network_calls_uncounted",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs43 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counters_disagreement !== undefined){
let data22 = data.counters_disagreement;
const _errs45 = errors;
if((typeof data22 !== "string") && (data22 !== null)){
validate155.errors = [{instancePath:instancePath+"/counters_disagreement",keyword:"type"}];
return false;
}
var valid0 = _errs45 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locks_reason !== undefined){
let data23 = data.locks_reason;
const _errs47 = errors;
if((typeof data23 !== "string") && (data23 !== null)){
validate155.errors = [{instancePath:instancePath+"/locks_reason",keyword:"type"}];
return false;
}
var valid0 = _errs47 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ledger_threads_uncounted !== undefined){
let data24 = data.ledger_threads_uncounted;
const _errs49 = errors;
if(!((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24)))){
validate155.errors = [{instancePath:instancePath+"/ledger_threads_uncounted",keyword:"type"}];
return false;
}
if(errors === _errs49){
if(typeof data24 == "number"){
if(data24 < 0 || isNaN(data24)){
validate155.errors = [{instancePath:instancePath+"/ledger_threads_uncounted",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs49 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate155.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate155.errors = vErrors;
return errors === 0;
}
function validate157(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.threads === undefined) && (missing0 = "threads")) || ((data.inexact === undefined) && (missing0 = "inexact"))) || ((data.totals === undefined) && (missing0 = "totals"))){
validate157.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.threads !== undefined){
let data0 = data.threads;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate157.errors = [{instancePath:instancePath+"/threads",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate157.errors = [{instancePath:instancePath+"/threads",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.inexact !== undefined){
let data1 = data.inexact;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate157.errors = [{instancePath:instancePath+"/inexact",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate157.errors = [{instancePath:instancePath+"/inexact",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.totals !== undefined){
let data2 = data.totals;
const _errs5 = errors;
if(errors === _errs5){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
for(const key0 in data2){
let data3 = data2[key0];
const _errs8 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate157.errors = [{instancePath:instancePath+"/totals/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type"}];
return false;
}
if(errors === _errs8){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate157.errors = [{instancePath:instancePath+"/totals/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"minimum"}];
return false;
}
}
}
var valid1 = _errs8 === errors;
if(!valid1){
break;
}
}
}
else {
validate157.errors = [{instancePath:instancePath+"/totals",keyword:"type"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate157.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate157.errors = vErrors;
return errors === 0;
}
function validate159(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.role === undefined) && (missing0 = "role")) || ((data.live === undefined) && (missing0 = "live"))) || ((data.exited === undefined) && (missing0 = "exited"))) || ((data.totals === undefined) && (missing0 = "totals"))){
validate159.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.role !== undefined){
let data0 = data.role;
const _errs1 = errors;
if((typeof data0 !== "string") && (data0 !== null)){
validate159.errors = [{instancePath:instancePath+"/role",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.live !== undefined){
let data1 = data.live;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate159.errors = [{instancePath:instancePath+"/live",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate159.errors = [{instancePath:instancePath+"/live",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exited !== undefined){
let data2 = data.exited;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate159.errors = [{instancePath:instancePath+"/exited",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate159.errors = [{instancePath:instancePath+"/exited",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.totals !== undefined){
let data3 = data.totals;
const _errs7 = errors;
if(errors === _errs7){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key0 in data3){
let data4 = data3[key0];
const _errs10 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate159.errors = [{instancePath:instancePath+"/totals/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type"}];
return false;
}
if(errors === _errs10){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate159.errors = [{instancePath:instancePath+"/totals/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"minimum"}];
return false;
}
}
}
var valid1 = _errs10 === errors;
if(!valid1){
break;
}
}
}
else {
validate159.errors = [{instancePath:instancePath+"/totals",keyword:"type"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate159.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate159.errors = vErrors;
return errors === 0;
}
function validate162(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.name === undefined) && (missing0 = "name")) || ((data.rows === undefined) && (missing0 = "rows"))) || ((data.bytes === undefined) && (missing0 = "bytes"))){
validate162.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
let data0 = data.name;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate162.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
if(!(((((((((((data0 === "stays") || (data0 === "wakes")) || (data0 === "locks")) || (data0 === "lock_names")) || (data0 === "takers")) || (data0 === "calls")) || (data0 === "call_stays")) || (data0 === "inexact")) || (data0 === "processes")) || (data0 === "pools")) || (data0 === "pool_times"))){
validate162.errors = [{instancePath:instancePath+"/name",keyword:"enum"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rows !== undefined){
let data1 = data.rows;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate162.errors = [{instancePath:instancePath+"/rows",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate162.errors = [{instancePath:instancePath+"/rows",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.bytes !== undefined){
let data2 = data.bytes;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate162.errors = [{instancePath:instancePath+"/bytes",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 8 || isNaN(data2)){
validate162.errors = [{instancePath:instancePath+"/bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.omitted !== undefined){
let data3 = data.omitted;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate162.errors = [{instancePath:instancePath+"/omitted",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate162.errors = [{instancePath:instancePath+"/omitted",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.read_ns !== undefined){
let data4 = data.read_ns;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate162.errors = [{instancePath:instancePath+"/read_ns",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate162.errors = [{instancePath:instancePath+"/read_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate162.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate162.errors = vErrors;
return errors === 0;
}
function validate165(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.cpu_by === undefined) && (missing0 = "cpu_by")) || ((data.threads_cpu_ns === undefined) && (missing0 = "threads_cpu_ns"))) || ((data.kernel_cpu_ns === undefined) && (missing0 = "kernel_cpu_ns"))) || ((data.io_by === undefined) && (missing0 = "io_by"))) || ((data.threads_read_bytes === undefined) && (missing0 = "threads_read_bytes"))) || ((data.kernel_read_bytes === undefined) && (missing0 = "kernel_read_bytes"))) || ((data.threads_write_bytes === undefined) && (missing0 = "threads_write_bytes"))) || ((data.kernel_write_bytes === undefined) && (missing0 = "kernel_write_bytes"))){
validate165.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.cpu_by !== undefined){
let data0 = data.cpu_by;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate165.errors = [{instancePath:instancePath+"/cpu_by",keyword:"type"}];
return false;
}
if(!(((data0 === "cpu.stat") || (data0 === "cpuacct.usage")) || (data0 === "rusage"))){
validate165.errors = [{instancePath:instancePath+"/cpu_by",keyword:"enum"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads_cpu_ns !== undefined){
let data1 = data.threads_cpu_ns;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate165.errors = [{instancePath:instancePath+"/threads_cpu_ns",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate165.errors = [{instancePath:instancePath+"/threads_cpu_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kernel_cpu_ns !== undefined){
let data2 = data.kernel_cpu_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate165.errors = [{instancePath:instancePath+"/kernel_cpu_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate165.errors = [{instancePath:instancePath+"/kernel_cpu_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.io_by !== undefined){
let data3 = data.io_by;
const _errs7 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate165.errors = [{instancePath:instancePath+"/io_by",keyword:"type"}];
return false;
}
if(!(((data3 === "io.stat") || (data3 === "blkio.throttle.io_service_bytes_recursive")) || (data3 === null))){
validate165.errors = [{instancePath:instancePath+"/io_by",keyword:"enum"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads_read_bytes !== undefined){
let data4 = data.threads_read_bytes;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate165.errors = [{instancePath:instancePath+"/threads_read_bytes",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate165.errors = [{instancePath:instancePath+"/threads_read_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kernel_read_bytes !== undefined){
let data5 = data.kernel_read_bytes;
const _errs11 = errors;
if((!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))) && (data5 !== null)){
validate165.errors = [{instancePath:instancePath+"/kernel_read_bytes",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate165.errors = [{instancePath:instancePath+"/kernel_read_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads_write_bytes !== undefined){
let data6 = data.threads_write_bytes;
const _errs13 = errors;
if((!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))) && (data6 !== null)){
validate165.errors = [{instancePath:instancePath+"/threads_write_bytes",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate165.errors = [{instancePath:instancePath+"/threads_write_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kernel_write_bytes !== undefined){
let data7 = data.kernel_write_bytes;
const _errs15 = errors;
if((!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))) && (data7 !== null)){
validate165.errors = [{instancePath:instancePath+"/kernel_write_bytes",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate165.errors = [{instancePath:instancePath+"/kernel_write_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate165.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate165.errors = vErrors;
return errors === 0;
}
function validate164(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.live === undefined) && (missing0 = "live")) || ((data.started === undefined) && (missing0 = "started"))) || ((data.ended === undefined) && (missing0 = "ended"))) || ((data.unseen === undefined) && (missing0 = "unseen"))) || ((data.missed === undefined) && (missing0 = "missed"))){
validate164.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.live !== undefined){
let data0 = data.live;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate164.errors = [{instancePath:instancePath+"/live",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate164.errors = [{instancePath:instancePath+"/live",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started !== undefined){
let data1 = data.started;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate164.errors = [{instancePath:instancePath+"/started",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate164.errors = [{instancePath:instancePath+"/started",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ended !== undefined){
let data2 = data.ended;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate164.errors = [{instancePath:instancePath+"/ended",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate164.errors = [{instancePath:instancePath+"/ended",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unseen !== undefined){
let data3 = data.unseen;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate164.errors = [{instancePath:instancePath+"/unseen",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate164.errors = [{instancePath:instancePath+"/unseen",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.missed !== undefined){
let data4 = data.missed;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate164.errors = [{instancePath:instancePath+"/missed",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate164.errors = [{instancePath:instancePath+"/missed",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.check !== undefined){
let data5 = data.check;
const _errs11 = errors;
const _errs12 = errors;
let valid1 = false;
const _errs13 = errors;
if(!(validate165(data5, {instancePath:instancePath+"/check"}))){
vErrors = vErrors === null ? validate165.errors : vErrors.concat(validate165.errors);
errors = vErrors.length;
}
var _valid0 = _errs13 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs14 = errors;
if(data5 !== null){
const err0 = {instancePath:instancePath+"/check",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs14 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/check",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate164.errors = vErrors;
return false;
}
else {
errors = _errs12;
if(vErrors !== null){
if(_errs12){
vErrors.length = _errs12;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate164.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate164.errors = vErrors;
return errors === 0;
}
function validate97(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((((((data.type === undefined) && (missing0 = "type")) || ((data.target === undefined) && (missing0 = "target"))) || ((data.seq === undefined) && (missing0 = "seq"))) || ((data.first_seq === undefined) && (missing0 = "first_seq"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.baseline === undefined) && (missing0 = "baseline"))) || ((data.rows === undefined) && (missing0 = "rows"))) || ((data.time_ns === undefined) && (missing0 = "time_ns"))) || ((data.unix_us === undefined) && (missing0 = "unix_us"))) || ((data.live_threads === undefined) && (missing0 = "live_threads"))) || ((data.threads_born === undefined) && (missing0 = "threads_born"))) || ((data.events === undefined) && (missing0 = "events"))) || ((data.process === undefined) && (missing0 = "process"))) || ((data.machine === undefined) && (missing0 = "machine"))) || ((data.health === undefined) && (missing0 = "health"))) || ((data.exited === undefined) && (missing0 = "exited"))){
validate97.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate97.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
if("frame" !== data0){
validate97.errors = [{instancePath:instancePath+"/type",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target !== undefined){
const _errs3 = errors;
if(typeof data.target !== "string"){
validate97.errors = [{instancePath:instancePath+"/target",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.seq !== undefined){
let data2 = data.seq;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate97.errors = [{instancePath:instancePath+"/seq",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate97.errors = [{instancePath:instancePath+"/seq",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.first_seq !== undefined){
let data3 = data.first_seq;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate97.errors = [{instancePath:instancePath+"/first_seq",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate97.errors = [{instancePath:instancePath+"/first_seq",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kind !== undefined){
let data4 = data.kind;
const _errs9 = errors;
if(typeof data4 !== "string"){
validate97.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
if(!((data4 === "key") || (data4 === "delta"))){
validate97.errors = [{instancePath:instancePath+"/kind",keyword:"enum"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.baseline !== undefined){
const _errs11 = errors;
if(typeof data.baseline !== "boolean"){
validate97.errors = [{instancePath:instancePath+"/baseline",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rows !== undefined){
let data6 = data.rows;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate97.errors = [{instancePath:instancePath+"/rows",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate97.errors = [{instancePath:instancePath+"/rows",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.fields !== undefined){
let data7 = data.fields;
const _errs15 = errors;
if((!(Array.isArray(data7))) && (data7 !== null)){
validate97.errors = [{instancePath:instancePath+"/fields",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(Array.isArray(data7)){
var valid1 = true;
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
const _errs17 = errors;
if(typeof data7[i0] !== "string"){
validate97.errors = [{instancePath:instancePath+"/fields/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs17 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.columns !== undefined){
let data9 = data.columns;
const _errs19 = errors;
if((!(Array.isArray(data9))) && (data9 !== null)){
validate97.errors = [{instancePath:instancePath+"/columns",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(Array.isArray(data9)){
var valid2 = true;
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
let data10 = data9[i1];
const _errs21 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate97.errors = [{instancePath:instancePath+"/columns/" + i1,keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate97.errors = [{instancePath:instancePath+"/columns/" + i1,keyword:"minimum"}];
return false;
}
}
}
var valid2 = _errs21 === errors;
if(!valid2){
break;
}
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.time_ns !== undefined){
let data11 = data.time_ns;
const _errs23 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate97.errors = [{instancePath:instancePath+"/time_ns",keyword:"type"}];
return false;
}
if(errors === _errs23){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate97.errors = [{instancePath:instancePath+"/time_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unix_us !== undefined){
let data12 = data.unix_us;
const _errs25 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate97.errors = [{instancePath:instancePath+"/unix_us",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate97.errors = [{instancePath:instancePath+"/unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.live_threads !== undefined){
let data13 = data.live_threads;
const _errs27 = errors;
if(!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))){
validate97.errors = [{instancePath:instancePath+"/live_threads",keyword:"type"}];
return false;
}
if(errors === _errs27){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate97.errors = [{instancePath:instancePath+"/live_threads",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads_born !== undefined){
let data14 = data.threads_born;
const _errs29 = errors;
if(!((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14)))){
validate97.errors = [{instancePath:instancePath+"/threads_born",keyword:"type"}];
return false;
}
if(errors === _errs29){
if(typeof data14 == "number"){
if(data14 < 0 || isNaN(data14)){
validate97.errors = [{instancePath:instancePath+"/threads_born",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.events !== undefined){
let data15 = data.events;
const _errs31 = errors;
if(errors === _errs31){
if(Array.isArray(data15)){
var valid3 = true;
const len2 = data15.length;
for(let i2=0; i2<len2; i2++){
const _errs33 = errors;
if(!(validate98(data15[i2], {instancePath:instancePath+"/events/" + i2}))){
vErrors = vErrors === null ? validate98.errors : vErrors.concat(validate98.errors);
errors = vErrors.length;
}
var valid3 = _errs33 === errors;
if(!valid3){
break;
}
}
}
else {
validate97.errors = [{instancePath:instancePath+"/events",keyword:"type"}];
return false;
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.process !== undefined){
const _errs34 = errors;
if(!(validate151(data.process, {instancePath:instancePath+"/process"}))){
vErrors = vErrors === null ? validate151.errors : vErrors.concat(validate151.errors);
errors = vErrors.length;
}
var valid0 = _errs34 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.machine !== undefined){
const _errs35 = errors;
if(!(validate153(data.machine, {instancePath:instancePath+"/machine"}))){
vErrors = vErrors === null ? validate153.errors : vErrors.concat(validate153.errors);
errors = vErrors.length;
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.health !== undefined){
const _errs36 = errors;
if(!(validate155(data.health, {instancePath:instancePath+"/health"}))){
vErrors = vErrors === null ? validate155.errors : vErrors.concat(validate155.errors);
errors = vErrors.length;
}
var valid0 = _errs36 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exited !== undefined){
const _errs37 = errors;
if(!(validate157(data.exited, {instancePath:instancePath+"/exited"}))){
vErrors = vErrors === null ? validate157.errors : vErrors.concat(validate157.errors);
errors = vErrors.length;
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.roles !== undefined){
let data21 = data.roles;
const _errs38 = errors;
if((!(Array.isArray(data21))) && (data21 !== null)){
validate97.errors = [{instancePath:instancePath+"/roles",keyword:"type"}];
return false;
}
if(errors === _errs38){
if(Array.isArray(data21)){
var valid4 = true;
const len3 = data21.length;
for(let i3=0; i3<len3; i3++){
const _errs40 = errors;
if(!(validate159(data21[i3], {instancePath:instancePath+"/roles/" + i3}))){
vErrors = vErrors === null ? validate159.errors : vErrors.concat(validate159.errors);
errors = vErrors.length;
}
var valid4 = _errs40 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs38 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counters_from !== undefined){
let data23 = data.counters_from;
const _errs41 = errors;
const _errs42 = errors;
let valid5 = false;
const _errs43 = errors;
if(!(validate113(data23, {instancePath:instancePath+"/counters_from"}))){
vErrors = vErrors === null ? validate113.errors : vErrors.concat(validate113.errors);
errors = vErrors.length;
}
var _valid0 = _errs43 === errors;
valid5 = valid5 || _valid0;
if(!valid5){
const _errs44 = errors;
if(data23 !== null){
const err0 = {instancePath:instancePath+"/counters_from",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs44 === errors;
valid5 = valid5 || _valid0;
}
if(!valid5){
const err1 = {instancePath:instancePath+"/counters_from",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate97.errors = vErrors;
return false;
}
else {
errors = _errs42;
if(vErrors !== null){
if(_errs42){
vErrors.length = _errs42;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs41 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tables !== undefined){
let data24 = data.tables;
const _errs46 = errors;
if((!(Array.isArray(data24))) && (data24 !== null)){
validate97.errors = [{instancePath:instancePath+"/tables",keyword:"type"}];
return false;
}
if(errors === _errs46){
if(Array.isArray(data24)){
var valid6 = true;
const len4 = data24.length;
for(let i4=0; i4<len4; i4++){
const _errs48 = errors;
if(!(validate162(data24[i4], {instancePath:instancePath+"/tables/" + i4}))){
vErrors = vErrors === null ? validate162.errors : vErrors.concat(validate162.errors);
errors = vErrors.length;
}
var valid6 = _errs48 === errors;
if(!valid6){
break;
}
}
}
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data26 = data.group;
const _errs49 = errors;
const _errs50 = errors;
let valid7 = false;
const _errs51 = errors;
if(!(validate164(data26, {instancePath:instancePath+"/group"}))){
vErrors = vErrors === null ? validate164.errors : vErrors.concat(validate164.errors);
errors = vErrors.length;
}
var _valid1 = _errs51 === errors;
valid7 = valid7 || _valid1;
if(!valid7){
const _errs52 = errors;
if(data26 !== null){
const err2 = {instancePath:instancePath+"/group",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs52 === errors;
valid7 = valid7 || _valid1;
}
if(!valid7){
const err3 = {instancePath:instancePath+"/group",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate97.errors = vErrors;
return false;
}
else {
errors = _errs50;
if(vErrors !== null){
if(_errs50){
vErrors.length = _errs50;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs49 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate97.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate97.errors = vErrors;
return errors === 0;
}
export const isProblem = validate168;
function validate168(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.type === undefined) && (missing0 = "type")) || ((data.title === undefined) && (missing0 = "title"))) || ((data.status === undefined) && (missing0 = "status"))) || ((data.detail === undefined) && (missing0 = "detail"))) || ((data.hint === undefined) && (missing0 = "hint"))){
validate168.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.type !== undefined){
const _errs1 = errors;
if(typeof data.type !== "string"){
validate168.errors = [{instancePath:instancePath+"/type",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs3 = errors;
if(typeof data.title !== "string"){
validate168.errors = [{instancePath:instancePath+"/title",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status !== undefined){
let data2 = data.status;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate168.errors = [{instancePath:instancePath+"/status",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 400 || isNaN(data2)){
validate168.errors = [{instancePath:instancePath+"/status",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.detail !== undefined){
const _errs7 = errors;
if(typeof data.detail !== "string"){
validate168.errors = [{instancePath:instancePath+"/detail",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.hint !== undefined){
const _errs9 = errors;
if(typeof data.hint !== "string"){
validate168.errors = [{instancePath:instancePath+"/hint",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate168.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate168.errors = vErrors;
return errors === 0;
}
export const isHealthResponse = validate169;
function validate170(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.open === undefined) && (missing0 = "open")) || ((data.authenticated === undefined) && (missing0 = "authenticated"))) || ((data.evicted === undefined) && (missing0 = "evicted"))) || ((data.refused === undefined) && (missing0 = "refused"))) || ((data.timed_out === undefined) && (missing0 = "timed_out"))) || ((data.descriptor_shortages === undefined) && (missing0 = "descriptor_shortages"))){
validate170.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.open !== undefined){
let data0 = data.open;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate170.errors = [{instancePath:instancePath+"/open",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate170.errors = [{instancePath:instancePath+"/open",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.authenticated !== undefined){
let data1 = data.authenticated;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate170.errors = [{instancePath:instancePath+"/authenticated",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate170.errors = [{instancePath:instancePath+"/authenticated",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.evicted !== undefined){
let data2 = data.evicted;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate170.errors = [{instancePath:instancePath+"/evicted",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate170.errors = [{instancePath:instancePath+"/evicted",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refused !== undefined){
let data3 = data.refused;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate170.errors = [{instancePath:instancePath+"/refused",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate170.errors = [{instancePath:instancePath+"/refused",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timed_out !== undefined){
let data4 = data.timed_out;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate170.errors = [{instancePath:instancePath+"/timed_out",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate170.errors = [{instancePath:instancePath+"/timed_out",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.descriptor_shortages !== undefined){
let data5 = data.descriptor_shortages;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate170.errors = [{instancePath:instancePath+"/descriptor_shortages",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate170.errors = [{instancePath:instancePath+"/descriptor_shortages",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate170.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate170.errors = vErrors;
return errors === 0;
}
function validate169(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((((data.status === undefined) && (missing0 = "status")) || ((data.version === undefined) && (missing0 = "version"))) || ((data.uptime_s === undefined) && (missing0 = "uptime_s"))) || ((data.collectors === undefined) && (missing0 = "collectors"))) || ((data.clients === undefined) && (missing0 = "clients"))) || ((data.targets === undefined) && (missing0 = "targets"))) || ((data.frames === undefined) && (missing0 = "frames"))) || ((data.frame_bytes === undefined) && (missing0 = "frame_bytes"))) || ((data.coalesced === undefined) && (missing0 = "coalesced"))) || ((data.dropped === undefined) && (missing0 = "dropped"))) || ((data.lost === undefined) && (missing0 = "lost"))) || ((data.history_bytes === undefined) && (missing0 = "history_bytes"))) || ((data.rss_bytes === undefined) && (missing0 = "rss_bytes"))) || ((data.connections === undefined) && (missing0 = "connections"))){
validate169.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.status !== undefined){
let data0 = data.status;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate169.errors = [{instancePath:instancePath+"/status",keyword:"type"}];
return false;
}
if(!((data0 === "ok") || (data0 === "degraded"))){
validate169.errors = [{instancePath:instancePath+"/status",keyword:"enum"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.version !== undefined){
const _errs3 = errors;
if(typeof data.version !== "string"){
validate169.errors = [{instancePath:instancePath+"/version",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.uptime_s !== undefined){
const _errs5 = errors;
if(!(typeof data.uptime_s == "number")){
validate169.errors = [{instancePath:instancePath+"/uptime_s",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.uid !== undefined){
let data3 = data.uid;
const _errs7 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate169.errors = [{instancePath:instancePath+"/uid",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate169.errors = [{instancePath:instancePath+"/uid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.collectors !== undefined){
let data4 = data.collectors;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate169.errors = [{instancePath:instancePath+"/collectors",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate169.errors = [{instancePath:instancePath+"/collectors",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.clients !== undefined){
let data5 = data.clients;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate169.errors = [{instancePath:instancePath+"/clients",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate169.errors = [{instancePath:instancePath+"/clients",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.targets !== undefined){
let data6 = data.targets;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate169.errors = [{instancePath:instancePath+"/targets",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate169.errors = [{instancePath:instancePath+"/targets",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.frames !== undefined){
let data7 = data.frames;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate169.errors = [{instancePath:instancePath+"/frames",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate169.errors = [{instancePath:instancePath+"/frames",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.frame_bytes !== undefined){
let data8 = data.frame_bytes;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate169.errors = [{instancePath:instancePath+"/frame_bytes",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate169.errors = [{instancePath:instancePath+"/frame_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coalesced !== undefined){
let data9 = data.coalesced;
const _errs19 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate169.errors = [{instancePath:instancePath+"/coalesced",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate169.errors = [{instancePath:instancePath+"/coalesced",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.dropped !== undefined){
let data10 = data.dropped;
const _errs21 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate169.errors = [{instancePath:instancePath+"/dropped",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate169.errors = [{instancePath:instancePath+"/dropped",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lost !== undefined){
let data11 = data.lost;
const _errs23 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate169.errors = [{instancePath:instancePath+"/lost",keyword:"type"}];
return false;
}
if(errors === _errs23){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate169.errors = [{instancePath:instancePath+"/lost",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.history_bytes !== undefined){
let data12 = data.history_bytes;
const _errs25 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate169.errors = [{instancePath:instancePath+"/history_bytes",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate169.errors = [{instancePath:instancePath+"/history_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rss_bytes !== undefined){
let data13 = data.rss_bytes;
const _errs27 = errors;
if(!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))){
validate169.errors = [{instancePath:instancePath+"/rss_bytes",keyword:"type"}];
return false;
}
if(errors === _errs27){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate169.errors = [{instancePath:instancePath+"/rss_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.connections !== undefined){
const _errs29 = errors;
if(!(validate170(data.connections, {instancePath:instancePath+"/connections"}))){
vErrors = vErrors === null ? validate170.errors : vErrors.concat(validate170.errors);
errors = vErrors.length;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate169.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate169.errors = vErrors;
return errors === 0;
}
export const isProcessesResponse = validate172;
function validate172(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.host === undefined) && (missing0 = "host")) || ((data.processes === undefined) && (missing0 = "processes"))){
validate172.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.host !== undefined){
const _errs1 = errors;
if(typeof data.host !== "string"){
validate172.errors = [{instancePath:instancePath+"/host",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.processes !== undefined){
let data1 = data.processes;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate37(data1[i0], {instancePath:instancePath+"/processes/" + i0}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate172.errors = [{instancePath:instancePath+"/processes",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.note !== undefined){
const _errs6 = errors;
if(typeof data.note !== "string"){
validate172.errors = [{instancePath:instancePath+"/note",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate172.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate172.errors = vErrors;
return errors === 0;
}
export const isDemoResponse = validate174;
function validate174(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.target === undefined) && (missing0 = "target")){
validate174.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.target !== undefined){
if(!(validate36(data.target, {instancePath:instancePath+"/target"}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
}
}
else {
validate174.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate174.errors = vErrors;
return errors === 0;
}
export const isDoctorReport = validate176;
function validate177(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate177.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((data === "ok") || (data === "limited")) || (data === "failed"))){
validate177.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate177.errors = vErrors;
return errors === 0;
}
function validate179(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.name === undefined) && (missing0 = "name")) || ((data.title === undefined) && (missing0 = "title"))) || ((data.status === undefined) && (missing0 = "status"))) || ((data.finding === undefined) && (missing0 = "finding"))) || ((data.impact === undefined) && (missing0 = "impact"))) || ((data.fix === undefined) && (missing0 = "fix"))){
validate179.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate179.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs3 = errors;
if(typeof data.title !== "string"){
validate179.errors = [{instancePath:instancePath+"/title",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status !== undefined){
const _errs5 = errors;
if(!(validate177(data.status, {instancePath:instancePath+"/status"}))){
vErrors = vErrors === null ? validate177.errors : vErrors.concat(validate177.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.finding !== undefined){
const _errs6 = errors;
if(typeof data.finding !== "string"){
validate179.errors = [{instancePath:instancePath+"/finding",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.impact !== undefined){
const _errs8 = errors;
if(typeof data.impact !== "string"){
validate179.errors = [{instancePath:instancePath+"/impact",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.fix !== undefined){
const _errs10 = errors;
if(typeof data.fix !== "string"){
validate179.errors = [{instancePath:instancePath+"/fix",keyword:"type"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.enabled !== undefined){
let data6 = data.enabled;
const _errs12 = errors;
if((typeof data6 !== "boolean") && (data6 !== null)){
validate179.errors = [{instancePath:instancePath+"/enabled",keyword:"type"}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate179.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate179.errors = vErrors;
return errors === 0;
}
function validate176(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.host === undefined) && (missing0 = "host")) || ((data.kernel === undefined) && (missing0 = "kernel"))) || ((data.checked_unix_ms === undefined) && (missing0 = "checked_unix_ms"))) || ((data.status === undefined) && (missing0 = "status"))) || ((data.checks === undefined) && (missing0 = "checks"))){
validate176.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.host !== undefined){
const _errs1 = errors;
if(typeof data.host !== "string"){
validate176.errors = [{instancePath:instancePath+"/host",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kernel !== undefined){
const _errs3 = errors;
if(typeof data.kernel !== "string"){
validate176.errors = [{instancePath:instancePath+"/kernel",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.checked_unix_ms !== undefined){
let data2 = data.checked_unix_ms;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate176.errors = [{instancePath:instancePath+"/checked_unix_ms",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate176.errors = [{instancePath:instancePath+"/checked_unix_ms",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status !== undefined){
const _errs7 = errors;
if(!(validate177(data.status, {instancePath:instancePath+"/status"}))){
vErrors = vErrors === null ? validate177.errors : vErrors.concat(validate177.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.checks !== undefined){
let data4 = data.checks;
const _errs8 = errors;
if(errors === _errs8){
if(Array.isArray(data4)){
var valid1 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
const _errs10 = errors;
if(!(validate179(data4[i0], {instancePath:instancePath+"/checks/" + i0}))){
vErrors = vErrors === null ? validate179.errors : vErrors.concat(validate179.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if(!valid1){
break;
}
}
}
else {
validate176.errors = [{instancePath:instancePath+"/checks",keyword:"type"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate176.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate176.errors = vErrors;
return errors === 0;
}
export const isSizeAudit = validate182;
function validate185(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.cpus === undefined) && (missing0 = "cpus")) || ((data.limit_cores === undefined) && (missing0 = "limit_cores"))) || ((data.limit_group === undefined) && (missing0 = "limit_group"))) || ((data.weight === undefined) && (missing0 = "weight"))) || ((data.request_cores === undefined) && (missing0 = "request_cores"))) || ((data.periods === undefined) && (missing0 = "periods"))) || ((data.throttled === undefined) && (missing0 = "throttled"))){
validate185.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.cpus !== undefined){
let data0 = data.cpus;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate185.errors = [{instancePath:instancePath+"/cpus",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate185.errors = [{instancePath:instancePath+"/cpus",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit_cores !== undefined){
let data1 = data.limit_cores;
const _errs3 = errors;
if((!(typeof data1 == "number")) && (data1 !== null)){
validate185.errors = [{instancePath:instancePath+"/limit_cores",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate185.errors = [{instancePath:instancePath+"/limit_cores",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit_group !== undefined){
let data2 = data.limit_group;
const _errs5 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate185.errors = [{instancePath:instancePath+"/limit_group",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.weight !== undefined){
let data3 = data.weight;
const _errs7 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate185.errors = [{instancePath:instancePath+"/weight",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate185.errors = [{instancePath:instancePath+"/weight",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.request_cores !== undefined){
let data4 = data.request_cores;
const _errs9 = errors;
if((!(typeof data4 == "number")) && (data4 !== null)){
validate185.errors = [{instancePath:instancePath+"/request_cores",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate185.errors = [{instancePath:instancePath+"/request_cores",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.periods !== undefined){
let data5 = data.periods;
const _errs11 = errors;
if((!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))) && (data5 !== null)){
validate185.errors = [{instancePath:instancePath+"/periods",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate185.errors = [{instancePath:instancePath+"/periods",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.throttled !== undefined){
let data6 = data.throttled;
const _errs13 = errors;
if((!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))) && (data6 !== null)){
validate185.errors = [{instancePath:instancePath+"/throttled",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate185.errors = [{instancePath:instancePath+"/throttled",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate185.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate185.errors = vErrors;
return errors === 0;
}
function validate187(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate187.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((data === "fits") || (data === "too-large")) || (data === "too-small")) || (data === "unknown"))){
validate187.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate187.errors = vErrors;
return errors === 0;
}
function validate183(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.process === undefined) && (missing0 = "process")) || ((data.allowance === undefined) && (missing0 = "allowance"))) || ((data.pool === undefined) && (missing0 = "pool"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.size === undefined) && (missing0 = "size"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.chosen === undefined) && (missing0 = "chosen"))) || ((data.verdict === undefined) && (missing0 = "verdict"))) || ((data.why === undefined) && (missing0 = "why"))) || ((data.change === undefined) && (missing0 = "change"))){
validate183.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.process !== undefined){
const _errs1 = errors;
if(!(validate37(data.process, {instancePath:instancePath+"/process"}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.allowance !== undefined){
const _errs2 = errors;
if(!(validate185(data.allowance, {instancePath:instancePath+"/allowance"}))){
vErrors = vErrors === null ? validate185.errors : vErrors.concat(validate185.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pool !== undefined){
const _errs3 = errors;
if(typeof data.pool !== "string"){
validate183.errors = [{instancePath:instancePath+"/pool",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kind !== undefined){
const _errs5 = errors;
if(typeof data.kind !== "string"){
validate183.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data4 = data.size;
const _errs7 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate183.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate183.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
let data5 = data.source;
const _errs9 = errors;
if(typeof data5 !== "string"){
validate183.errors = [{instancePath:instancePath+"/source",keyword:"type"}];
return false;
}
if(!(((data5 === "memory") || (data5 === "hsperfdata")) || (data5 === "agent"))){
validate183.errors = [{instancePath:instancePath+"/source",keyword:"enum"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chosen !== undefined){
let data6 = data.chosen;
const _errs11 = errors;
if(typeof data6 !== "string"){
validate183.errors = [{instancePath:instancePath+"/chosen",keyword:"type"}];
return false;
}
if(!((((data6 === "environment") || (data6 === "program")) || (data6 === "runtime")) || (data6 === "unknown"))){
validate183.errors = [{instancePath:instancePath+"/chosen",keyword:"enum"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.verdict !== undefined){
const _errs13 = errors;
if(!(validate187(data.verdict, {instancePath:instancePath+"/verdict"}))){
vErrors = vErrors === null ? validate187.errors : vErrors.concat(validate187.errors);
errors = vErrors.length;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.why !== undefined){
const _errs14 = errors;
if(typeof data.why !== "string"){
validate183.errors = [{instancePath:instancePath+"/why",keyword:"type"}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.change !== undefined){
let data9 = data.change;
const _errs16 = errors;
if((typeof data9 !== "string") && (data9 !== null)){
validate183.errors = [{instancePath:instancePath+"/change",keyword:"type"}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate183.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate183.errors = vErrors;
return errors === 0;
}
function validate182(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.programs === undefined) && (missing0 = "programs")) || ((data.omitted === undefined) && (missing0 = "omitted"))){
validate182.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.programs !== undefined){
let data0 = data.programs;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate183(data0[i0], {instancePath:instancePath+"/programs/" + i0}))){
vErrors = vErrors === null ? validate183.errors : vErrors.concat(validate183.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate182.errors = [{instancePath:instancePath+"/programs",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.omitted !== undefined){
let data2 = data.omitted;
const _errs4 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate182.errors = [{instancePath:instancePath+"/omitted",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate182.errors = [{instancePath:instancePath+"/omitted",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate182.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate182.errors = vErrors;
return errors === 0;
}
export const isSessionOpened = validate190;
function validate191(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate191.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((data === "operator") || (data === "viewer"))){
validate191.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate191.errors = vErrors;
return errors === 0;
}
function validate190(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.id === undefined) && (missing0 = "id")) || ((data.role === undefined) && (missing0 = "role"))) || ((data.credential === undefined) && (missing0 = "credential"))){
validate190.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate190.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role !== undefined){
const _errs3 = errors;
if(!(validate191(data.role, {instancePath:instancePath+"/role"}))){
vErrors = vErrors === null ? validate191.errors : vErrors.concat(validate191.errors);
errors = vErrors.length;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.credential !== undefined){
const _errs4 = errors;
if(typeof data.credential !== "string"){
validate190.errors = [{instancePath:instancePath+"/credential",keyword:"type"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate190.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate190.errors = vErrors;
return errors === 0;
}
export const isSessionResponse = validate193;
function validate193(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.role === undefined) && (missing0 = "role")) || ((data.id === undefined) && (missing0 = "id"))){
validate193.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.role !== undefined){
const _errs1 = errors;
if(!(validate191(data.role, {instancePath:instancePath+"/role"}))){
vErrors = vErrors === null ? validate191.errors : vErrors.concat(validate191.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.id !== undefined){
let data1 = data.id;
const _errs2 = errors;
if((typeof data1 !== "string") && (data1 !== null)){
validate193.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate193.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate193.errors = vErrors;
return errors === 0;
}
export const isSessionsResponse = validate195;
function validate196(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.id === undefined) && (missing0 = "id")) || ((data.role === undefined) && (missing0 = "role"))) || ((data.label === undefined) && (missing0 = "label"))) || ((data.address === undefined) && (missing0 = "address"))) || ((data.opened_unix_us === undefined) && (missing0 = "opened_unix_us"))) || ((data.used_unix_us === undefined) && (missing0 = "used_unix_us"))) || ((data.expires_unix_us === undefined) && (missing0 = "expires_unix_us"))) || ((data.own === undefined) && (missing0 = "own"))){
validate196.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate196.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role !== undefined){
const _errs3 = errors;
if(!(validate191(data.role, {instancePath:instancePath+"/role"}))){
vErrors = vErrors === null ? validate191.errors : vErrors.concat(validate191.errors);
errors = vErrors.length;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.label !== undefined){
const _errs4 = errors;
if(typeof data.label !== "string"){
validate196.errors = [{instancePath:instancePath+"/label",keyword:"type"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.address !== undefined){
const _errs6 = errors;
if(typeof data.address !== "string"){
validate196.errors = [{instancePath:instancePath+"/address",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.opened_unix_us !== undefined){
let data4 = data.opened_unix_us;
const _errs8 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate196.errors = [{instancePath:instancePath+"/opened_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs8){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate196.errors = [{instancePath:instancePath+"/opened_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.used_unix_us !== undefined){
let data5 = data.used_unix_us;
const _errs10 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate196.errors = [{instancePath:instancePath+"/used_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs10){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate196.errors = [{instancePath:instancePath+"/used_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_unix_us !== undefined){
let data6 = data.expires_unix_us;
const _errs12 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate196.errors = [{instancePath:instancePath+"/expires_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs12){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate196.errors = [{instancePath:instancePath+"/expires_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.own !== undefined){
const _errs14 = errors;
if(typeof data.own !== "boolean"){
validate196.errors = [{instancePath:instancePath+"/own",keyword:"type"}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate196.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate196.errors = vErrors;
return errors === 0;
}
function validate195(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.sessions === undefined) && (missing0 = "sessions")){
validate195.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.sessions !== undefined){
let data0 = data.sessions;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate196(data0[i0], {instancePath:instancePath+"/sessions/" + i0}))){
vErrors = vErrors === null ? validate196.errors : vErrors.concat(validate196.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate195.errors = [{instancePath:instancePath+"/sessions",keyword:"type"}];
return false;
}
}
}
}
}
else {
validate195.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate195.errors = vErrors;
return errors === 0;
}
export const isTicketResponse = validate199;
function validate199(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.ticket === undefined) && (missing0 = "ticket")){
validate199.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.ticket !== undefined){
if(typeof data.ticket !== "string"){
validate199.errors = [{instancePath:instancePath+"/ticket",keyword:"type"}];
return false;
}
}
}
}
else {
validate199.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate199.errors = vErrors;
return errors === 0;
}
export const isTarget = validate200;
function validate200(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((data.id === undefined) && (missing0 = "id")) || ((data.host === undefined) && (missing0 = "host"))) || ((data.process === undefined) && (missing0 = "process"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.rate_hz === undefined) && (missing0 = "rate_hz"))) || ((data.attached_unix_us === undefined) && (missing0 = "attached_unix_us"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.energy === undefined) && (missing0 = "energy"))) || ((data.fields === undefined) && (missing0 = "fields"))) || ((data.absent === undefined) && (missing0 = "absent"))) || ((data.gomaxprocs === undefined) && (missing0 = "gomaxprocs"))) || ((data.gomaxprocs_reason === undefined) && (missing0 = "gomaxprocs_reason"))) || ((data.steering === undefined) && (missing0 = "steering"))){
validate200.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate200.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.host !== undefined){
const _errs3 = errors;
if(typeof data.host !== "string"){
validate200.errors = [{instancePath:instancePath+"/host",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.process !== undefined){
const _errs5 = errors;
if(!(validate37(data.process, {instancePath:instancePath+"/process"}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data3 = data.group;
const _errs6 = errors;
const _errs7 = errors;
let valid1 = false;
const _errs8 = errors;
if(!(validate45(data3, {instancePath:instancePath+"/group"}))){
vErrors = vErrors === null ? validate45.errors : vErrors.concat(validate45.errors);
errors = vErrors.length;
}
var _valid0 = _errs8 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs9 = errors;
if(data3 !== null){
const err0 = {instancePath:instancePath+"/group",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/group",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate200.errors = vErrors;
return false;
}
else {
errors = _errs7;
if(vErrors !== null){
if(_errs7){
vErrors.length = _errs7;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
const _errs11 = errors;
if(!(validate49(data.state, {instancePath:instancePath+"/state"}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.rate_hz !== undefined){
let data5 = data.rate_hz;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data5 == "number"){
if(data5 < 1 || isNaN(data5)){
validate200.errors = [{instancePath:instancePath+"/rate_hz",keyword:"minimum"}];
return false;
}
}
else {
validate200.errors = [{instancePath:instancePath+"/rate_hz",keyword:"type"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attached_unix_us !== undefined){
let data6 = data.attached_unix_us;
const _errs14 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate200.errors = [{instancePath:instancePath+"/attached_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs14){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate200.errors = [{instancePath:instancePath+"/attached_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
const _errs16 = errors;
if(!(validate51(data.source, {instancePath:instancePath+"/source"}))){
vErrors = vErrors === null ? validate51.errors : vErrors.concat(validate51.errors);
errors = vErrors.length;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.energy !== undefined){
const _errs17 = errors;
if(!(validate54(data.energy, {instancePath:instancePath+"/energy"}))){
vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
errors = vErrors.length;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.fields !== undefined){
let data9 = data.fields;
const _errs18 = errors;
if(errors === _errs18){
if(Array.isArray(data9)){
var valid2 = true;
const len0 = data9.length;
for(let i0=0; i0<len0; i0++){
const _errs20 = errors;
if(typeof data9[i0] !== "string"){
validate200.errors = [{instancePath:instancePath+"/fields/" + i0,keyword:"type"}];
return false;
}
var valid2 = _errs20 === errors;
if(!valid2){
break;
}
}
}
else {
validate200.errors = [{instancePath:instancePath+"/fields",keyword:"type"}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.absent !== undefined){
let data11 = data.absent;
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data11)){
var valid3 = true;
const len1 = data11.length;
for(let i1=0; i1<len1; i1++){
const _errs24 = errors;
if(!(validate58(data11[i1], {instancePath:instancePath+"/absent/" + i1}))){
vErrors = vErrors === null ? validate58.errors : vErrors.concat(validate58.errors);
errors = vErrors.length;
}
var valid3 = _errs24 === errors;
if(!valid3){
break;
}
}
}
else {
validate200.errors = [{instancePath:instancePath+"/absent",keyword:"type"}];
return false;
}
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gomaxprocs !== undefined){
let data13 = data.gomaxprocs;
const _errs25 = errors;
if((!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))) && (data13 !== null)){
validate200.errors = [{instancePath:instancePath+"/gomaxprocs",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate200.errors = [{instancePath:instancePath+"/gomaxprocs",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gomaxprocs_reason !== undefined){
const _errs27 = errors;
if(typeof data.gomaxprocs_reason !== "string"){
validate200.errors = [{instancePath:instancePath+"/gomaxprocs_reason",keyword:"type"}];
return false;
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.thread_names !== undefined){
let data15 = data.thread_names;
const _errs29 = errors;
if((typeof data15 !== "string") && (data15 !== null)){
validate200.errors = [{instancePath:instancePath+"/thread_names",keyword:"type"}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role_rules !== undefined){
let data16 = data.role_rules;
const _errs31 = errors;
if((!(Array.isArray(data16))) && (data16 !== null)){
validate200.errors = [{instancePath:instancePath+"/role_rules",keyword:"type"}];
return false;
}
if(errors === _errs31){
if(Array.isArray(data16)){
var valid4 = true;
const len2 = data16.length;
for(let i2=0; i2<len2; i2++){
const _errs33 = errors;
if(!(validate60(data16[i2], {instancePath:instancePath+"/role_rules/" + i2}))){
vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
errors = vErrors.length;
}
var valid4 = _errs33 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steering !== undefined){
let data18 = data.steering;
const _errs34 = errors;
const _errs35 = errors;
let valid5 = false;
const _errs36 = errors;
if(!(validate62(data18, {instancePath:instancePath+"/steering"}))){
vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
errors = vErrors.length;
}
var _valid1 = _errs36 === errors;
valid5 = valid5 || _valid1;
if(!valid5){
const _errs37 = errors;
if(data18 !== null){
const err2 = {instancePath:instancePath+"/steering",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs37 === errors;
valid5 = valid5 || _valid1;
}
if(!valid5){
const err3 = {instancePath:instancePath+"/steering",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate200.errors = vErrors;
return false;
}
else {
errors = _errs35;
if(vErrors !== null){
if(_errs35){
vErrors.length = _errs35;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs34 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.programs !== undefined){
let data19 = data.programs;
const _errs39 = errors;
const _errs40 = errors;
let valid6 = false;
const _errs41 = errors;
if(errors === _errs41){
if(Array.isArray(data19)){
var valid7 = true;
const len3 = data19.length;
for(let i3=0; i3<len3; i3++){
const _errs43 = errors;
if(!(validate83(data19[i3], {instancePath:instancePath+"/programs/" + i3}))){
vErrors = vErrors === null ? validate83.errors : vErrors.concat(validate83.errors);
errors = vErrors.length;
}
var valid7 = _errs43 === errors;
if(!valid7){
break;
}
}
}
else {
const err4 = {instancePath:instancePath+"/programs",keyword:"type"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid2 = _errs41 === errors;
valid6 = valid6 || _valid2;
if(!valid6){
const _errs44 = errors;
if(data19 !== null){
const err5 = {instancePath:instancePath+"/programs",keyword:"type"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
var _valid2 = _errs44 === errors;
valid6 = valid6 || _valid2;
}
if(!valid6){
const err6 = {instancePath:instancePath+"/programs",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
validate200.errors = vErrors;
return false;
}
else {
errors = _errs40;
if(vErrors !== null){
if(_errs40){
vErrors.length = _errs40;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.programs_join !== undefined){
const _errs46 = errors;
if(typeof data.programs_join !== "boolean"){
validate200.errors = [{instancePath:instancePath+"/programs_join",keyword:"type"}];
return false;
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.continues !== undefined){
let data22 = data.continues;
const _errs48 = errors;
if((typeof data22 !== "string") && (data22 !== null)){
validate200.errors = [{instancePath:instancePath+"/continues",keyword:"type"}];
return false;
}
var valid0 = _errs48 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate200.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate200.errors = vErrors;
return errors === 0;
}
export const isPoliciesResponse = validate210;
function validate212(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.name === undefined) && (missing0 = "name")) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.integer === undefined) && (missing0 = "integer"))) || ((data.default === undefined) && (missing0 = "default"))) || ((data.low === undefined) && (missing0 = "low"))) || ((data.high === undefined) && (missing0 = "high"))) || ((data.meaning === undefined) && (missing0 = "meaning"))){
validate212.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate212.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
const _errs3 = errors;
if(typeof data.unit !== "string"){
validate212.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.integer !== undefined){
const _errs5 = errors;
if(typeof data.integer !== "boolean"){
validate212.errors = [{instancePath:instancePath+"/integer",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.default !== undefined){
const _errs7 = errors;
if(!(typeof data.default == "number")){
validate212.errors = [{instancePath:instancePath+"/default",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low !== undefined){
const _errs9 = errors;
if(!(typeof data.low == "number")){
validate212.errors = [{instancePath:instancePath+"/low",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high !== undefined){
const _errs11 = errors;
if(!(typeof data.high == "number")){
validate212.errors = [{instancePath:instancePath+"/high",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.meaning !== undefined){
const _errs13 = errors;
if(typeof data.meaning !== "string"){
validate212.errors = [{instancePath:instancePath+"/meaning",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate212.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate212.errors = vErrors;
return errors === 0;
}
function validate211(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.name === undefined) && (missing0 = "name")) || ((data.meaning === undefined) && (missing0 = "meaning"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.wait === undefined) && (missing0 = "wait"))) || ((data.parameters === undefined) && (missing0 = "parameters"))){
validate211.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate211.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.meaning !== undefined){
const _errs3 = errors;
if(typeof data.meaning !== "string"){
validate211.errors = [{instancePath:instancePath+"/meaning",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
const _errs5 = errors;
if(typeof data.source !== "string"){
validate211.errors = [{instancePath:instancePath+"/source",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.wait !== undefined){
const _errs7 = errors;
if(typeof data.wait !== "boolean"){
validate211.errors = [{instancePath:instancePath+"/wait",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parameters !== undefined){
let data4 = data.parameters;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data4)){
var valid1 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
const _errs11 = errors;
if(!(validate212(data4[i0], {instancePath:instancePath+"/parameters/" + i0}))){
vErrors = vErrors === null ? validate212.errors : vErrors.concat(validate212.errors);
errors = vErrors.length;
}
var valid1 = _errs11 === errors;
if(!valid1){
break;
}
}
}
else {
validate211.errors = [{instancePath:instancePath+"/parameters",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate211.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate211.errors = vErrors;
return errors === 0;
}
function validate210(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.policies === undefined) && (missing0 = "policies")){
validate210.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.policies !== undefined){
let data0 = data.policies;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate211(data0[i0], {instancePath:instancePath+"/policies/" + i0}))){
vErrors = vErrors === null ? validate211.errors : vErrors.concat(validate211.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate210.errors = [{instancePath:instancePath+"/policies",keyword:"type"}];
return false;
}
}
}
}
}
else {
validate210.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate210.errors = vErrors;
return errors === 0;
}
export const isSteeringOptions = validate215;
function validate216(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.kind === undefined) && (missing0 = "kind")) || ((data.refusal === undefined) && (missing0 = "refusal"))) || ((data.lower === undefined) && (missing0 = "lower"))) || ((data.upper === undefined) && (missing0 = "upper"))) || ((data.size === undefined) && (missing0 = "size"))){
validate216.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.kind !== undefined){
const _errs1 = errors;
if(!(validate63(data.kind, {instancePath:instancePath+"/kind"}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refusal !== undefined){
const _errs2 = errors;
if(typeof data.refusal !== "string"){
validate216.errors = [{instancePath:instancePath+"/refusal",keyword:"type"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lower !== undefined){
let data2 = data.lower;
const _errs4 = errors;
if((!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))) && (data2 !== null)){
validate216.errors = [{instancePath:instancePath+"/lower",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate216.errors = [{instancePath:instancePath+"/lower",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upper !== undefined){
let data3 = data.upper;
const _errs6 = errors;
if((!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))) && (data3 !== null)){
validate216.errors = [{instancePath:instancePath+"/upper",keyword:"type"}];
return false;
}
if(errors === _errs6){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate216.errors = [{instancePath:instancePath+"/upper",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data4 = data.size;
const _errs8 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate216.errors = [{instancePath:instancePath+"/size",keyword:"type"}];
return false;
}
if(errors === _errs8){
if(typeof data4 == "number"){
if(data4 < 1 || isNaN(data4)){
validate216.errors = [{instancePath:instancePath+"/size",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate216.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate216.errors = vErrors;
return errors === 0;
}
function validate219(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.kind === undefined) && (missing0 = "kind")) || ((data.proxy === undefined) && (missing0 = "proxy"))) || ((data.refusal === undefined) && (missing0 = "refusal"))) || ((data.note === undefined) && (missing0 = "note"))){
validate219.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.kind !== undefined){
const _errs1 = errors;
if(!(validate65(data.kind, {instancePath:instancePath+"/kind"}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proxy !== undefined){
const _errs2 = errors;
if(typeof data.proxy !== "boolean"){
validate219.errors = [{instancePath:instancePath+"/proxy",keyword:"type"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refusal !== undefined){
const _errs4 = errors;
if(typeof data.refusal !== "string"){
validate219.errors = [{instancePath:instancePath+"/refusal",keyword:"type"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.note !== undefined){
const _errs6 = errors;
if(typeof data.note !== "string"){
validate219.errors = [{instancePath:instancePath+"/note",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate219.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate219.errors = vErrors;
return errors === 0;
}
function validate223(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.pid === undefined) && (missing0 = "pid")) || ((data.start_ticks === undefined) && (missing0 = "start_ticks"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.refusal === undefined) && (missing0 = "refusal"))) || ((data.knobs === undefined) && (missing0 = "knobs"))) || ((data.signals === undefined) && (missing0 = "signals"))) || ((data.steering === undefined) && (missing0 = "steering"))){
validate223.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pid !== undefined){
let data0 = data.pid;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate223.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 1 || isNaN(data0)){
validate223.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ticks !== undefined){
let data1 = data.start_ticks;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate223.errors = [{instancePath:instancePath+"/start_ticks",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate223.errors = [{instancePath:instancePath+"/start_ticks",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs5 = errors;
if(typeof data.name !== "string"){
validate223.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refusal !== undefined){
const _errs7 = errors;
if(typeof data.refusal !== "string"){
validate223.errors = [{instancePath:instancePath+"/refusal",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knobs !== undefined){
let data4 = data.knobs;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data4)){
var valid1 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
const _errs11 = errors;
if(!(validate216(data4[i0], {instancePath:instancePath+"/knobs/" + i0}))){
vErrors = vErrors === null ? validate216.errors : vErrors.concat(validate216.errors);
errors = vErrors.length;
}
var valid1 = _errs11 === errors;
if(!valid1){
break;
}
}
}
else {
validate223.errors = [{instancePath:instancePath+"/knobs",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signals !== undefined){
let data6 = data.signals;
const _errs12 = errors;
if(errors === _errs12){
if(Array.isArray(data6)){
var valid2 = true;
const len1 = data6.length;
for(let i1=0; i1<len1; i1++){
const _errs14 = errors;
if(!(validate219(data6[i1], {instancePath:instancePath+"/signals/" + i1}))){
vErrors = vErrors === null ? validate219.errors : vErrors.concat(validate219.errors);
errors = vErrors.length;
}
var valid2 = _errs14 === errors;
if(!valid2){
break;
}
}
}
else {
validate223.errors = [{instancePath:instancePath+"/signals",keyword:"type"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steering !== undefined){
let data8 = data.steering;
const _errs15 = errors;
const _errs16 = errors;
let valid3 = false;
const _errs17 = errors;
if(!(validate62(data8, {instancePath:instancePath+"/steering"}))){
vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
errors = vErrors.length;
}
var _valid0 = _errs17 === errors;
valid3 = valid3 || _valid0;
if(!valid3){
const _errs18 = errors;
if(data8 !== null){
const err0 = {instancePath:instancePath+"/steering",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs18 === errors;
valid3 = valid3 || _valid0;
}
if(!valid3){
const err1 = {instancePath:instancePath+"/steering",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate223.errors = vErrors;
return false;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate223.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate223.errors = vErrors;
return errors === 0;
}
function validate215(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.knobs === undefined) && (missing0 = "knobs")) || ((data.signals === undefined) && (missing0 = "signals"))) || ((data.steering === undefined) && (missing0 = "steering"))){
validate215.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.knobs !== undefined){
let data0 = data.knobs;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate216(data0[i0], {instancePath:instancePath+"/knobs/" + i0}))){
vErrors = vErrors === null ? validate216.errors : vErrors.concat(validate216.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate215.errors = [{instancePath:instancePath+"/knobs",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signals !== undefined){
let data2 = data.signals;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
const _errs6 = errors;
if(!(validate219(data2[i1], {instancePath:instancePath+"/signals/" + i1}))){
vErrors = vErrors === null ? validate219.errors : vErrors.concat(validate219.errors);
errors = vErrors.length;
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
else {
validate215.errors = [{instancePath:instancePath+"/signals",keyword:"type"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.steering !== undefined){
let data4 = data.steering;
const _errs7 = errors;
const _errs8 = errors;
let valid3 = false;
const _errs9 = errors;
if(!(validate62(data4, {instancePath:instancePath+"/steering"}))){
vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
errors = vErrors.length;
}
var _valid0 = _errs9 === errors;
valid3 = valid3 || _valid0;
if(!valid3){
const _errs10 = errors;
if(data4 !== null){
const err0 = {instancePath:instancePath+"/steering",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs10 === errors;
valid3 = valid3 || _valid0;
}
if(!valid3){
const err1 = {instancePath:instancePath+"/steering",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate215.errors = vErrors;
return false;
}
else {
errors = _errs8;
if(vErrors !== null){
if(_errs8){
vErrors.length = _errs8;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.programs !== undefined){
let data5 = data.programs;
const _errs12 = errors;
const _errs13 = errors;
let valid4 = false;
const _errs14 = errors;
if(errors === _errs14){
if(Array.isArray(data5)){
var valid5 = true;
const len2 = data5.length;
for(let i2=0; i2<len2; i2++){
const _errs16 = errors;
if(!(validate223(data5[i2], {instancePath:instancePath+"/programs/" + i2}))){
vErrors = vErrors === null ? validate223.errors : vErrors.concat(validate223.errors);
errors = vErrors.length;
}
var valid5 = _errs16 === errors;
if(!valid5){
break;
}
}
}
else {
const err2 = {instancePath:instancePath+"/programs",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid1 = _errs14 === errors;
valid4 = valid4 || _valid1;
if(!valid4){
const _errs17 = errors;
if(data5 !== null){
const err3 = {instancePath:instancePath+"/programs",keyword:"type"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid1 = _errs17 === errors;
valid4 = valid4 || _valid1;
}
if(!valid4){
const err4 = {instancePath:instancePath+"/programs",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
validate215.errors = vErrors;
return false;
}
else {
errors = _errs13;
if(vErrors !== null){
if(_errs13){
vErrors.length = _errs13;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unexamined !== undefined){
let data7 = data.unexamined;
const _errs19 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate215.errors = [{instancePath:instancePath+"/unexamined",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate215.errors = [{instancePath:instancePath+"/unexamined",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate215.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate215.errors = vErrors;
return errors === 0;
}
export const isPredictionService = validate228;
function validate230(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.pid === undefined) && (missing0 = "pid")) || ((data.uid === undefined) && (missing0 = "uid"))) || ((data.updates === undefined) && (missing0 = "updates"))){
validate230.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.pid !== undefined){
let data0 = data.pid;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate230.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate230.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.uid !== undefined){
let data1 = data.uid;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate230.errors = [{instancePath:instancePath+"/uid",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate230.errors = [{instancePath:instancePath+"/uid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.updates !== undefined){
let data2 = data.updates;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate230.errors = [{instancePath:instancePath+"/updates",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate230.errors = [{instancePath:instancePath+"/updates",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate230.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate230.errors = vErrors;
return errors === 0;
}
function validate229(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((data.name === undefined) && (missing0 = "name")) || ((data.owner === undefined) && (missing0 = "owner"))) || ((data.sharing === undefined) && (missing0 = "sharing"))) || ((data.threshold === undefined) && (missing0 = "threshold"))) || ((data.limit === undefined) && (missing0 = "limit"))) || ((data.updates === undefined) && (missing0 = "updates"))) || ((data.hits === undefined) && (missing0 = "hits"))) || ((data.undecided === undefined) && (missing0 = "undecided"))) || ((data.resets === undefined) && (missing0 = "resets"))) || ((data.used_weights === undefined) && (missing0 = "used_weights"))) || ((data.users === undefined) && (missing0 = "users"))) || ((data.shown_users === undefined) && (missing0 = "shown_users"))) || ((data.administered === undefined) && (missing0 = "administered"))){
validate229.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate229.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.owner !== undefined){
let data1 = data.owner;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate229.errors = [{instancePath:instancePath+"/owner",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate229.errors = [{instancePath:instancePath+"/owner",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sharing !== undefined){
let data2 = data.sharing;
const _errs5 = errors;
if(typeof data2 !== "string"){
validate229.errors = [{instancePath:instancePath+"/sharing",keyword:"type"}];
return false;
}
if(!(((data2 === "off") || (data2 === "read")) || (data2 === "write"))){
validate229.errors = [{instancePath:instancePath+"/sharing",keyword:"enum"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threshold !== undefined){
let data3 = data.threshold;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate229.errors = [{instancePath:instancePath+"/threshold",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate229.errors = [{instancePath:instancePath+"/threshold",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit !== undefined){
let data4 = data.limit;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate229.errors = [{instancePath:instancePath+"/limit",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate229.errors = [{instancePath:instancePath+"/limit",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.updates !== undefined){
let data5 = data.updates;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate229.errors = [{instancePath:instancePath+"/updates",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate229.errors = [{instancePath:instancePath+"/updates",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.hits !== undefined){
let data6 = data.hits;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate229.errors = [{instancePath:instancePath+"/hits",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate229.errors = [{instancePath:instancePath+"/hits",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.undecided !== undefined){
let data7 = data.undecided;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate229.errors = [{instancePath:instancePath+"/undecided",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate229.errors = [{instancePath:instancePath+"/undecided",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.resets !== undefined){
let data8 = data.resets;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate229.errors = [{instancePath:instancePath+"/resets",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate229.errors = [{instancePath:instancePath+"/resets",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.used_weights !== undefined){
let data9 = data.used_weights;
const _errs19 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate229.errors = [{instancePath:instancePath+"/used_weights",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate229.errors = [{instancePath:instancePath+"/used_weights",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.users !== undefined){
let data10 = data.users;
const _errs21 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate229.errors = [{instancePath:instancePath+"/users",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate229.errors = [{instancePath:instancePath+"/users",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.shown_users !== undefined){
let data11 = data.shown_users;
const _errs23 = errors;
if(errors === _errs23){
if(Array.isArray(data11)){
var valid1 = true;
const len0 = data11.length;
for(let i0=0; i0<len0; i0++){
const _errs25 = errors;
if(!(validate230(data11[i0], {instancePath:instancePath+"/shown_users/" + i0}))){
vErrors = vErrors === null ? validate230.errors : vErrors.concat(validate230.errors);
errors = vErrors.length;
}
var valid1 = _errs25 === errors;
if(!valid1){
break;
}
}
}
else {
validate229.errors = [{instancePath:instancePath+"/shown_users",keyword:"type"}];
return false;
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.administered !== undefined){
const _errs26 = errors;
if(typeof data.administered !== "boolean"){
validate229.errors = [{instancePath:instancePath+"/administered",keyword:"type"}];
return false;
}
var valid0 = _errs26 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate229.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate229.errors = vErrors;
return errors === 0;
}
function validate228(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.reason === undefined) && (missing0 = "reason")) || ((data.models === undefined) && (missing0 = "models"))){
validate228.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.reason !== undefined){
let data0 = data.reason;
const _errs1 = errors;
if((typeof data0 !== "string") && (data0 !== null)){
validate228.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.models !== undefined){
let data1 = data.models;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate229(data1[i0], {instancePath:instancePath+"/models/" + i0}))){
vErrors = vErrors === null ? validate229.errors : vErrors.concat(validate229.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate228.errors = [{instancePath:instancePath+"/models",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate228.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate228.errors = vErrors;
return errors === 0;
}
export const isPredictionWeights = validate233;
function validate233(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.weights === undefined) && (missing0 = "weights")){
validate233.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.weights !== undefined){
let data0 = data.weights;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate233.errors = [{instancePath:instancePath+"/weights/" + i0,keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < -127 || isNaN(data1)){
validate233.errors = [{instancePath:instancePath+"/weights/" + i0,keyword:"minimum"}];
return false;
}
}
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate233.errors = [{instancePath:instancePath+"/weights",keyword:"type"}];
return false;
}
}
}
}
}
else {
validate233.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate233.errors = vErrors;
return errors === 0;
}
export const isRunsResponse = validate234;
function validate236(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate236.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((data === "recording") || (data === "complete")) || (data === "incomplete")) || (data === "interrupted"))){
validate236.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate236.errors = vErrors;
return errors === 0;
}
function validate238(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate238.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((((((data === "stopped") || (data === "duration")) || (data === "flight-recorder")) || (data === "target-ended")) || (data === "collector-lost")) || (data === "backend-lost")) || (data === "disk-full")) || (data === "write-failed"))){
validate238.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate238.errors = vErrors;
return errors === 0;
}
function validate241(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((data.frames === undefined) && (missing0 = "frames")) || ((data.gaps === undefined) && (missing0 = "gaps"))) || ((data.missing_ns === undefined) && (missing0 = "missing_ns"))) || ((data.truncated_bytes === undefined) && (missing0 = "truncated_bytes"))) || ((data.coalesced === undefined) && (missing0 = "coalesced"))) || ((data.deadlines_missed === undefined) && (missing0 = "deadlines_missed"))) || ((data.samples_failed === undefined) && (missing0 = "samples_failed"))) || ((data.exit_records_lost === undefined) && (missing0 = "exit_records_lost"))) || ((data.clock_jumps === undefined) && (missing0 = "clock_jumps"))){
validate241.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.frames !== undefined){
let data0 = data.frames;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate241.errors = [{instancePath:instancePath+"/frames",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate241.errors = [{instancePath:instancePath+"/frames",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gaps !== undefined){
let data1 = data.gaps;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate241.errors = [{instancePath:instancePath+"/gaps",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate241.errors = [{instancePath:instancePath+"/gaps",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.missing_ns !== undefined){
let data2 = data.missing_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate241.errors = [{instancePath:instancePath+"/missing_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate241.errors = [{instancePath:instancePath+"/missing_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.truncated_bytes !== undefined){
let data3 = data.truncated_bytes;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate241.errors = [{instancePath:instancePath+"/truncated_bytes",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate241.errors = [{instancePath:instancePath+"/truncated_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coalesced !== undefined){
let data4 = data.coalesced;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate241.errors = [{instancePath:instancePath+"/coalesced",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate241.errors = [{instancePath:instancePath+"/coalesced",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.deadlines_missed !== undefined){
let data5 = data.deadlines_missed;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate241.errors = [{instancePath:instancePath+"/deadlines_missed",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate241.errors = [{instancePath:instancePath+"/deadlines_missed",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.samples_failed !== undefined){
let data6 = data.samples_failed;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate241.errors = [{instancePath:instancePath+"/samples_failed",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate241.errors = [{instancePath:instancePath+"/samples_failed",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exit_records_lost !== undefined){
let data7 = data.exit_records_lost;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate241.errors = [{instancePath:instancePath+"/exit_records_lost",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate241.errors = [{instancePath:instancePath+"/exit_records_lost",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exits_without_event !== undefined){
let data8 = data.exits_without_event;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate241.errors = [{instancePath:instancePath+"/exits_without_event",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate241.errors = [{instancePath:instancePath+"/exits_without_event",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.network_calls_uncounted !== undefined){
let data9 = data.network_calls_uncounted;
const _errs19 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate241.errors = [{instancePath:instancePath+"/network_calls_uncounted",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate241.errors = [{instancePath:instancePath+"/network_calls_uncounted",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.clock_jumps !== undefined){
let data10 = data.clock_jumps;
const _errs21 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate241.errors = [{instancePath:instancePath+"/clock_jumps",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate241.errors = [{instancePath:instancePath+"/clock_jumps",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate241.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate241.errors = vErrors;
return errors === 0;
}
function validate243(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.frames === undefined) && (missing0 = "frames")) || ((data.thread_samples === undefined) && (missing0 = "thread_samples"))) || ((data.threads === undefined) && (missing0 = "threads"))) || ((data.events === undefined) && (missing0 = "events"))) || ((data.bytes === undefined) && (missing0 = "bytes"))) || ((data.open_bytes === undefined) && (missing0 = "open_bytes"))){
validate243.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.frames !== undefined){
let data0 = data.frames;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate243.errors = [{instancePath:instancePath+"/frames",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate243.errors = [{instancePath:instancePath+"/frames",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.thread_samples !== undefined){
let data1 = data.thread_samples;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate243.errors = [{instancePath:instancePath+"/thread_samples",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate243.errors = [{instancePath:instancePath+"/thread_samples",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads !== undefined){
let data2 = data.threads;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate243.errors = [{instancePath:instancePath+"/threads",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate243.errors = [{instancePath:instancePath+"/threads",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.events !== undefined){
let data3 = data.events;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate243.errors = [{instancePath:instancePath+"/events",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate243.errors = [{instancePath:instancePath+"/events",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.bytes !== undefined){
let data4 = data.bytes;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate243.errors = [{instancePath:instancePath+"/bytes",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate243.errors = [{instancePath:instancePath+"/bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.open_bytes !== undefined){
let data5 = data.open_bytes;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate243.errors = [{instancePath:instancePath+"/open_bytes",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate243.errors = [{instancePath:instancePath+"/open_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate243.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate243.errors = vErrors;
return errors === 0;
}
function validate235(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((((((((((((data.id === undefined) && (missing0 = "id")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.tags === undefined) && (missing0 = "tags"))) || ((data.group === undefined) && (missing0 = "group"))) || ((data.notes === undefined) && (missing0 = "notes"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.end === undefined) && (missing0 = "end"))) || ((data.end_detail === undefined) && (missing0 = "end_detail"))) || ((data.created_unix_us === undefined) && (missing0 = "created_unix_us"))) || ((data.started_unix_us === undefined) && (missing0 = "started_unix_us"))) || ((data.duration_ns === undefined) && (missing0 = "duration_ns"))) || ((data.host_name === undefined) && (missing0 = "host_name"))) || ((data.target === undefined) && (missing0 = "target"))) || ((data.pid === undefined) && (missing0 = "pid"))) || ((data.process === undefined) && (missing0 = "process"))) || ((data.command === undefined) && (missing0 = "command"))) || ((data.policies === undefined) && (missing0 = "policies"))) || ((data.losses === undefined) && (missing0 = "losses"))) || ((data.counts === undefined) && (missing0 = "counts"))) || ((data.exit_code === undefined) && (missing0 = "exit_code"))) || ((data.signal === undefined) && (missing0 = "signal"))) || ((data.imported === undefined) && (missing0 = "imported"))){
validate235.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate235.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate235.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tags !== undefined){
let data2 = data.tags;
const _errs5 = errors;
if(errors === _errs5){
if(Array.isArray(data2)){
var valid1 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
const _errs7 = errors;
if(typeof data2[i0] !== "string"){
validate235.errors = [{instancePath:instancePath+"/tags/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs7 === errors;
if(!valid1){
break;
}
}
}
else {
validate235.errors = [{instancePath:instancePath+"/tags",keyword:"type"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data4 = data.group;
const _errs9 = errors;
if((typeof data4 !== "string") && (data4 !== null)){
validate235.errors = [{instancePath:instancePath+"/group",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.notes !== undefined){
const _errs11 = errors;
if(typeof data.notes !== "string"){
validate235.errors = [{instancePath:instancePath+"/notes",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
const _errs13 = errors;
if(!(validate236(data.state, {instancePath:instancePath+"/state"}))){
vErrors = vErrors === null ? validate236.errors : vErrors.concat(validate236.errors);
errors = vErrors.length;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.end !== undefined){
let data7 = data.end;
const _errs14 = errors;
const _errs15 = errors;
let valid2 = false;
const _errs16 = errors;
if(!(validate238(data7, {instancePath:instancePath+"/end"}))){
vErrors = vErrors === null ? validate238.errors : vErrors.concat(validate238.errors);
errors = vErrors.length;
}
var _valid0 = _errs16 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs17 = errors;
if(data7 !== null){
const err0 = {instancePath:instancePath+"/end",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs17 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err1 = {instancePath:instancePath+"/end",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate235.errors = vErrors;
return false;
}
else {
errors = _errs15;
if(vErrors !== null){
if(_errs15){
vErrors.length = _errs15;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.end_detail !== undefined){
const _errs19 = errors;
if(typeof data.end_detail !== "string"){
validate235.errors = [{instancePath:instancePath+"/end_detail",keyword:"type"}];
return false;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.created_unix_us !== undefined){
let data9 = data.created_unix_us;
const _errs21 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate235.errors = [{instancePath:instancePath+"/created_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate235.errors = [{instancePath:instancePath+"/created_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_unix_us !== undefined){
let data10 = data.started_unix_us;
const _errs23 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate235.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs23){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate235.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.duration_ns !== undefined){
let data11 = data.duration_ns;
const _errs25 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate235.errors = [{instancePath:instancePath+"/duration_ns",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate235.errors = [{instancePath:instancePath+"/duration_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.host_name !== undefined){
const _errs27 = errors;
if(typeof data.host_name !== "string"){
validate235.errors = [{instancePath:instancePath+"/host_name",keyword:"type"}];
return false;
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target !== undefined){
const _errs29 = errors;
if(typeof data.target !== "string"){
validate235.errors = [{instancePath:instancePath+"/target",keyword:"type"}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data14 = data.pid;
const _errs31 = errors;
if(!((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14)))){
validate235.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs31){
if(typeof data14 == "number"){
if(data14 < 1 || isNaN(data14)){
validate235.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.process !== undefined){
const _errs33 = errors;
if(typeof data.process !== "string"){
validate235.errors = [{instancePath:instancePath+"/process",keyword:"type"}];
return false;
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.command !== undefined){
let data16 = data.command;
const _errs35 = errors;
if((typeof data16 !== "string") && (data16 !== null)){
validate235.errors = [{instancePath:instancePath+"/command",keyword:"type"}];
return false;
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target_group !== undefined){
let data17 = data.target_group;
const _errs37 = errors;
const _errs38 = errors;
let valid3 = false;
const _errs39 = errors;
if(!(validate45(data17, {instancePath:instancePath+"/target_group"}))){
vErrors = vErrors === null ? validate45.errors : vErrors.concat(validate45.errors);
errors = vErrors.length;
}
var _valid1 = _errs39 === errors;
valid3 = valid3 || _valid1;
if(!valid3){
const _errs40 = errors;
if(data17 !== null){
const err2 = {instancePath:instancePath+"/target_group",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs40 === errors;
valid3 = valid3 || _valid1;
}
if(!valid3){
const err3 = {instancePath:instancePath+"/target_group",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate235.errors = vErrors;
return false;
}
else {
errors = _errs38;
if(vErrors !== null){
if(_errs38){
vErrors.length = _errs38;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policies !== undefined){
let data18 = data.policies;
const _errs42 = errors;
if(errors === _errs42){
if(Array.isArray(data18)){
var valid4 = true;
const len1 = data18.length;
for(let i1=0; i1<len1; i1++){
const _errs44 = errors;
if(typeof data18[i1] !== "string"){
validate235.errors = [{instancePath:instancePath+"/policies/" + i1,keyword:"type"}];
return false;
}
var valid4 = _errs44 === errors;
if(!valid4){
break;
}
}
}
else {
validate235.errors = [{instancePath:instancePath+"/policies",keyword:"type"}];
return false;
}
}
var valid0 = _errs42 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.losses !== undefined){
const _errs46 = errors;
if(!(validate241(data.losses, {instancePath:instancePath+"/losses"}))){
vErrors = vErrors === null ? validate241.errors : vErrors.concat(validate241.errors);
errors = vErrors.length;
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.children_cpu_us !== undefined){
let data21 = data.children_cpu_us;
const _errs47 = errors;
if((!((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21)))) && (data21 !== null)){
validate235.errors = [{instancePath:instancePath+"/children_cpu_us",keyword:"type"}];
return false;
}
if(errors === _errs47){
if(typeof data21 == "number"){
if(data21 < 0 || isNaN(data21)){
validate235.errors = [{instancePath:instancePath+"/children_cpu_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs47 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counts !== undefined){
const _errs49 = errors;
if(!(validate243(data.counts, {instancePath:instancePath+"/counts"}))){
vErrors = vErrors === null ? validate243.errors : vErrors.concat(validate243.errors);
errors = vErrors.length;
}
var valid0 = _errs49 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exit_code !== undefined){
let data23 = data.exit_code;
const _errs50 = errors;
if((!((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23)))) && (data23 !== null)){
validate235.errors = [{instancePath:instancePath+"/exit_code",keyword:"type"}];
return false;
}
var valid0 = _errs50 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signal !== undefined){
let data24 = data.signal;
const _errs52 = errors;
if((typeof data24 !== "string") && (data24 !== null)){
validate235.errors = [{instancePath:instancePath+"/signal",keyword:"type"}];
return false;
}
var valid0 = _errs52 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.imported !== undefined){
const _errs54 = errors;
if(typeof data.imported !== "boolean"){
validate235.errors = [{instancePath:instancePath+"/imported",keyword:"type"}];
return false;
}
var valid0 = _errs54 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate235.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate235.errors = vErrors;
return errors === 0;
}
function validate247(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.folder === undefined) && (missing0 = "folder")) || ((data.reason === undefined) && (missing0 = "reason"))){
validate247.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.folder !== undefined){
const _errs1 = errors;
if(typeof data.folder !== "string"){
validate247.errors = [{instancePath:instancePath+"/folder",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
const _errs3 = errors;
if(typeof data.reason !== "string"){
validate247.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate247.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate247.errors = vErrors;
return errors === 0;
}
function validate249(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.max_age_s === undefined) && (missing0 = "max_age_s")) || ((data.max_bytes === undefined) && (missing0 = "max_bytes"))){
validate249.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.max_age_s !== undefined){
let data0 = data.max_age_s;
const _errs1 = errors;
if((!(typeof data0 == "number")) && (data0 !== null)){
validate249.errors = [{instancePath:instancePath+"/max_age_s",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate249.errors = [{instancePath:instancePath+"/max_age_s",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_bytes !== undefined){
let data1 = data.max_bytes;
const _errs3 = errors;
if((!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))) && (data1 !== null)){
validate249.errors = [{instancePath:instancePath+"/max_bytes",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate249.errors = [{instancePath:instancePath+"/max_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate249.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate249.errors = vErrors;
return errors === 0;
}
function validate234(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.runs === undefined) && (missing0 = "runs")) || ((data.deleted === undefined) && (missing0 = "deleted"))) || ((data.damaged === undefined) && (missing0 = "damaged"))) || ((data.bytes === undefined) && (missing0 = "bytes"))) || ((data.free_bytes === undefined) && (missing0 = "free_bytes"))) || ((data.retention === undefined) && (missing0 = "retention"))){
validate234.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.runs !== undefined){
let data0 = data.runs;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate235(data0[i0], {instancePath:instancePath+"/runs/" + i0}))){
vErrors = vErrors === null ? validate235.errors : vErrors.concat(validate235.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate234.errors = [{instancePath:instancePath+"/runs",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.deleted !== undefined){
let data2 = data.deleted;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
const _errs6 = errors;
if(!(validate235(data2[i1], {instancePath:instancePath+"/deleted/" + i1}))){
vErrors = vErrors === null ? validate235.errors : vErrors.concat(validate235.errors);
errors = vErrors.length;
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
else {
validate234.errors = [{instancePath:instancePath+"/deleted",keyword:"type"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.damaged !== undefined){
let data4 = data.damaged;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data4)){
var valid3 = true;
const len2 = data4.length;
for(let i2=0; i2<len2; i2++){
const _errs9 = errors;
if(!(validate247(data4[i2], {instancePath:instancePath+"/damaged/" + i2}))){
vErrors = vErrors === null ? validate247.errors : vErrors.concat(validate247.errors);
errors = vErrors.length;
}
var valid3 = _errs9 === errors;
if(!valid3){
break;
}
}
}
else {
validate234.errors = [{instancePath:instancePath+"/damaged",keyword:"type"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.bytes !== undefined){
let data6 = data.bytes;
const _errs10 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate234.errors = [{instancePath:instancePath+"/bytes",keyword:"type"}];
return false;
}
if(errors === _errs10){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate234.errors = [{instancePath:instancePath+"/bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.free_bytes !== undefined){
let data7 = data.free_bytes;
const _errs12 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate234.errors = [{instancePath:instancePath+"/free_bytes",keyword:"type"}];
return false;
}
if(errors === _errs12){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate234.errors = [{instancePath:instancePath+"/free_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.retention !== undefined){
const _errs14 = errors;
if(!(validate249(data.retention, {instancePath:instancePath+"/retention"}))){
vErrors = vErrors === null ? validate249.errors : vErrors.concat(validate249.errors);
errors = vErrors.length;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate234.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate234.errors = vErrors;
return errors === 0;
}
export const isRunManifest = validate251;
function validate257(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate257.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((((data === "exact") || (data === "sampled")) || (data === "estimated")) || (data === "quantised"))){
validate257.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate257.errors = vErrors;
return errors === 0;
}
function validate256(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((data.name === undefined) && (missing0 = "name")) || ((data.label === undefined) && (missing0 = "label"))) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.scope === undefined) && (missing0 = "scope"))) || ((data.group === undefined) && (missing0 = "group"))) || ((data.taskstats === undefined) && (missing0 = "taskstats"))) || ((data.since_version === undefined) && (missing0 = "since_version"))) || ((data.procfs === undefined) && (missing0 = "procfs"))) || ((data.provenance === undefined) && (missing0 = "provenance"))) || ((data.meaning === undefined) && (missing0 = "meaning"))){
validate256.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate256.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.label !== undefined){
const _errs3 = errors;
if(typeof data.label !== "string"){
validate256.errors = [{instancePath:instancePath+"/label",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
let data2 = data.unit;
const _errs5 = errors;
if(typeof data2 !== "string"){
validate256.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
if(!((((data2 === "ns") || (data2 === "us")) || (data2 === "bytes")) || (data2 === "count"))){
validate256.errors = [{instancePath:instancePath+"/unit",keyword:"enum"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kind !== undefined){
let data3 = data.kind;
const _errs7 = errors;
if(typeof data3 !== "string"){
validate256.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
if(!((data3 === "counter") || (data3 === "gauge"))){
validate256.errors = [{instancePath:instancePath+"/kind",keyword:"enum"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.scope !== undefined){
let data4 = data.scope;
const _errs9 = errors;
if(typeof data4 !== "string"){
validate256.errors = [{instancePath:instancePath+"/scope",keyword:"type"}];
return false;
}
if(!((data4 === "thread") || (data4 === "process"))){
validate256.errors = [{instancePath:instancePath+"/scope",keyword:"enum"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data5 = data.group;
const _errs11 = errors;
if(typeof data5 !== "string"){
validate256.errors = [{instancePath:instancePath+"/group",keyword:"type"}];
return false;
}
if(!(((((((((data5 === "cpu") || (data5 === "wait")) || (data5 === "state")) || (data5 === "switches")) || (data5 === "memory")) || (data5 === "io")) || (data5 === "disk")) || (data5 === "network")) || (data5 === "pool"))){
validate256.errors = [{instancePath:instancePath+"/group",keyword:"enum"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.taskstats !== undefined){
let data6 = data.taskstats;
const _errs13 = errors;
if((typeof data6 !== "string") && (data6 !== null)){
validate256.errors = [{instancePath:instancePath+"/taskstats",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.since_version !== undefined){
let data7 = data.since_version;
const _errs15 = errors;
if((!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))) && (data7 !== null)){
validate256.errors = [{instancePath:instancePath+"/since_version",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate256.errors = [{instancePath:instancePath+"/since_version",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.procfs !== undefined){
let data8 = data.procfs;
const _errs17 = errors;
if((typeof data8 !== "string") && (data8 !== null)){
validate256.errors = [{instancePath:instancePath+"/procfs",keyword:"type"}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.provenance !== undefined){
const _errs19 = errors;
if(!(validate257(data.provenance, {instancePath:instancePath+"/provenance"}))){
vErrors = vErrors === null ? validate257.errors : vErrors.concat(validate257.errors);
errors = vErrors.length;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.meaning !== undefined){
const _errs20 = errors;
if(typeof data.meaning !== "string"){
validate256.errors = [{instancePath:instancePath+"/meaning",keyword:"type"}];
return false;
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate256.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate256.errors = vErrors;
return errors === 0;
}
function validate260(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.time_ns === undefined) && (missing0 = "time_ns")) || ((data.policy === undefined) && (missing0 = "policy"))) || ((data.shadow === undefined) && (missing0 = "shadow"))) || ((data.knob === undefined) && (missing0 = "knob"))) || ((data.signal === undefined) && (missing0 = "signal"))) || ((data.lower === undefined) && (missing0 = "lower"))) || ((data.upper === undefined) && (missing0 = "upper"))){
validate260.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.time_ns !== undefined){
let data0 = data.time_ns;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate260.errors = [{instancePath:instancePath+"/time_ns",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate260.errors = [{instancePath:instancePath+"/time_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policy !== undefined){
const _errs3 = errors;
if(typeof data.policy !== "string"){
validate260.errors = [{instancePath:instancePath+"/policy",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.shadow !== undefined){
const _errs5 = errors;
if(typeof data.shadow !== "boolean"){
validate260.errors = [{instancePath:instancePath+"/shadow",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.knob !== undefined){
const _errs7 = errors;
if(!(validate63(data.knob, {instancePath:instancePath+"/knob"}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signal !== undefined){
const _errs8 = errors;
if(!(validate65(data.signal, {instancePath:instancePath+"/signal"}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.lower !== undefined){
let data5 = data.lower;
const _errs9 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate260.errors = [{instancePath:instancePath+"/lower",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data5 == "number"){
if(data5 < 1 || isNaN(data5)){
validate260.errors = [{instancePath:instancePath+"/lower",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upper !== undefined){
let data6 = data.upper;
const _errs11 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate260.errors = [{instancePath:instancePath+"/upper",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data6 == "number"){
if(data6 < 1 || isNaN(data6)){
validate260.errors = [{instancePath:instancePath+"/upper",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate260.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate260.errors = vErrors;
return errors === 0;
}
function validate264(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.time_ns === undefined) && (missing0 = "time_ns")) || ((data.text === undefined) && (missing0 = "text"))){
validate264.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.time_ns !== undefined){
let data0 = data.time_ns;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate264.errors = [{instancePath:instancePath+"/time_ns",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate264.errors = [{instancePath:instancePath+"/time_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.text !== undefined){
const _errs3 = errors;
if(typeof data.text !== "string"){
validate264.errors = [{instancePath:instancePath+"/text",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate264.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate264.errors = vErrors;
return errors === 0;
}
function validate269(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((data.command === undefined) && (missing0 = "command")) || ((data.exit_code === undefined) && (missing0 = "exit_code"))) || ((data.signal === undefined) && (missing0 = "signal"))) || ((data.elapsed_us === undefined) && (missing0 = "elapsed_us"))) || ((data.user_cpu_us === undefined) && (missing0 = "user_cpu_us"))) || ((data.system_cpu_us === undefined) && (missing0 = "system_cpu_us"))) || ((data.max_rss_bytes === undefined) && (missing0 = "max_rss_bytes"))) || ((data.major_faults === undefined) && (missing0 = "major_faults"))) || ((data.minor_faults === undefined) && (missing0 = "minor_faults"))) || ((data.voluntary_switches === undefined) && (missing0 = "voluntary_switches"))) || ((data.involuntary_switches === undefined) && (missing0 = "involuntary_switches"))) || ((data.output_bytes === undefined) && (missing0 = "output_bytes"))) || ((data.output_tail === undefined) && (missing0 = "output_tail"))){
validate269.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.command !== undefined){
let data0 = data.command;
const _errs1 = errors;
if((!(Array.isArray(data0))) && (data0 !== null)){
validate269.errors = [{instancePath:instancePath+"/command",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(typeof data0[i0] !== "string"){
validate269.errors = [{instancePath:instancePath+"/command/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exit_code !== undefined){
let data2 = data.exit_code;
const _errs5 = errors;
if((!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))) && (data2 !== null)){
validate269.errors = [{instancePath:instancePath+"/exit_code",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signal !== undefined){
let data3 = data.signal;
const _errs7 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate269.errors = [{instancePath:instancePath+"/signal",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.elapsed_us !== undefined){
let data4 = data.elapsed_us;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate269.errors = [{instancePath:instancePath+"/elapsed_us",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate269.errors = [{instancePath:instancePath+"/elapsed_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user_cpu_us !== undefined){
let data5 = data.user_cpu_us;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate269.errors = [{instancePath:instancePath+"/user_cpu_us",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate269.errors = [{instancePath:instancePath+"/user_cpu_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.system_cpu_us !== undefined){
let data6 = data.system_cpu_us;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate269.errors = [{instancePath:instancePath+"/system_cpu_us",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate269.errors = [{instancePath:instancePath+"/system_cpu_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.children_cpu_us !== undefined){
let data7 = data.children_cpu_us;
const _errs15 = errors;
if((!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))) && (data7 !== null)){
validate269.errors = [{instancePath:instancePath+"/children_cpu_us",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate269.errors = [{instancePath:instancePath+"/children_cpu_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_rss_bytes !== undefined){
let data8 = data.max_rss_bytes;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate269.errors = [{instancePath:instancePath+"/max_rss_bytes",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate269.errors = [{instancePath:instancePath+"/max_rss_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.major_faults !== undefined){
let data9 = data.major_faults;
const _errs19 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate269.errors = [{instancePath:instancePath+"/major_faults",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate269.errors = [{instancePath:instancePath+"/major_faults",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.minor_faults !== undefined){
let data10 = data.minor_faults;
const _errs21 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate269.errors = [{instancePath:instancePath+"/minor_faults",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate269.errors = [{instancePath:instancePath+"/minor_faults",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.voluntary_switches !== undefined){
let data11 = data.voluntary_switches;
const _errs23 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate269.errors = [{instancePath:instancePath+"/voluntary_switches",keyword:"type"}];
return false;
}
if(errors === _errs23){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate269.errors = [{instancePath:instancePath+"/voluntary_switches",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.involuntary_switches !== undefined){
let data12 = data.involuntary_switches;
const _errs25 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate269.errors = [{instancePath:instancePath+"/involuntary_switches",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate269.errors = [{instancePath:instancePath+"/involuntary_switches",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.output_bytes !== undefined){
let data13 = data.output_bytes;
const _errs27 = errors;
if((!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))) && (data13 !== null)){
validate269.errors = [{instancePath:instancePath+"/output_bytes",keyword:"type"}];
return false;
}
if(errors === _errs27){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate269.errors = [{instancePath:instancePath+"/output_bytes",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.output_tail !== undefined){
let data14 = data.output_tail;
const _errs29 = errors;
if((typeof data14 !== "string") && (data14 !== null)){
validate269.errors = [{instancePath:instancePath+"/output_tail",keyword:"type"}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate269.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate269.errors = vErrors;
return errors === 0;
}
function validate251(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((((((((((((data.format === undefined) && (missing0 = "format")) || ((data.id === undefined) && (missing0 = "id"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.tags === undefined) && (missing0 = "tags"))) || ((data.group === undefined) && (missing0 = "group"))) || ((data.notes === undefined) && (missing0 = "notes"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.end === undefined) && (missing0 = "end"))) || ((data.end_detail === undefined) && (missing0 = "end_detail"))) || ((data.created_unix_us === undefined) && (missing0 = "created_unix_us"))) || ((data.started_unix_us === undefined) && (missing0 = "started_unix_us"))) || ((data.from_ns === undefined) && (missing0 = "from_ns"))) || ((data.to_ns === undefined) && (missing0 = "to_ns"))) || ((data.tidscope === undefined) && (missing0 = "tidscope"))) || ((data.host === undefined) && (missing0 = "host"))) || ((data.target === undefined) && (missing0 = "target"))) || ((data.fields === undefined) && (missing0 = "fields"))) || ((data.policies === undefined) && (missing0 = "policies"))) || ((data.marks === undefined) && (missing0 = "marks"))) || ((data.losses === undefined) && (missing0 = "losses"))) || ((data.counts === undefined) && (missing0 = "counts"))) || ((data.outcome === undefined) && (missing0 = "outcome"))) || ((data.imported === undefined) && (missing0 = "imported"))){
validate251.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.format !== undefined){
let data0 = data.format;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate251.errors = [{instancePath:instancePath+"/format",keyword:"type"}];
return false;
}
if(1 !== data0){
validate251.errors = [{instancePath:instancePath+"/format",keyword:"const"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.id !== undefined){
const _errs3 = errors;
if(typeof data.id !== "string"){
validate251.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs5 = errors;
if(typeof data.name !== "string"){
validate251.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tags !== undefined){
let data3 = data.tags;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
const _errs9 = errors;
if(typeof data3[i0] !== "string"){
validate251.errors = [{instancePath:instancePath+"/tags/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs9 === errors;
if(!valid1){
break;
}
}
}
else {
validate251.errors = [{instancePath:instancePath+"/tags",keyword:"type"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data5 = data.group;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate251.errors = [{instancePath:instancePath+"/group",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.notes !== undefined){
const _errs13 = errors;
if(typeof data.notes !== "string"){
validate251.errors = [{instancePath:instancePath+"/notes",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
const _errs15 = errors;
if(!(validate236(data.state, {instancePath:instancePath+"/state"}))){
vErrors = vErrors === null ? validate236.errors : vErrors.concat(validate236.errors);
errors = vErrors.length;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.end !== undefined){
let data8 = data.end;
const _errs16 = errors;
const _errs17 = errors;
let valid2 = false;
const _errs18 = errors;
if(!(validate238(data8, {instancePath:instancePath+"/end"}))){
vErrors = vErrors === null ? validate238.errors : vErrors.concat(validate238.errors);
errors = vErrors.length;
}
var _valid0 = _errs18 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs19 = errors;
if(data8 !== null){
const err0 = {instancePath:instancePath+"/end",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs19 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err1 = {instancePath:instancePath+"/end",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate251.errors = vErrors;
return false;
}
else {
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.end_detail !== undefined){
const _errs21 = errors;
if(typeof data.end_detail !== "string"){
validate251.errors = [{instancePath:instancePath+"/end_detail",keyword:"type"}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.created_unix_us !== undefined){
let data10 = data.created_unix_us;
const _errs23 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate251.errors = [{instancePath:instancePath+"/created_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs23){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate251.errors = [{instancePath:instancePath+"/created_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_unix_us !== undefined){
let data11 = data.started_unix_us;
const _errs25 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate251.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate251.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from_ns !== undefined){
let data12 = data.from_ns;
const _errs27 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate251.errors = [{instancePath:instancePath+"/from_ns",keyword:"type"}];
return false;
}
if(errors === _errs27){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate251.errors = [{instancePath:instancePath+"/from_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to_ns !== undefined){
let data13 = data.to_ns;
const _errs29 = errors;
if(!((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13)))){
validate251.errors = [{instancePath:instancePath+"/to_ns",keyword:"type"}];
return false;
}
if(errors === _errs29){
if(typeof data13 == "number"){
if(data13 < 0 || isNaN(data13)){
validate251.errors = [{instancePath:instancePath+"/to_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.until_ns !== undefined){
let data14 = data.until_ns;
const _errs31 = errors;
if((!((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14)))) && (data14 !== null)){
validate251.errors = [{instancePath:instancePath+"/until_ns",keyword:"type"}];
return false;
}
if(errors === _errs31){
if(typeof data14 == "number"){
if(data14 < 0 || isNaN(data14)){
validate251.errors = [{instancePath:instancePath+"/until_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tidscope !== undefined){
const _errs33 = errors;
if(typeof data.tidscope !== "string"){
validate251.errors = [{instancePath:instancePath+"/tidscope",keyword:"type"}];
return false;
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.host !== undefined){
const _errs35 = errors;
if(!(validate24(data.host, {instancePath:instancePath+"/host"}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target !== undefined){
const _errs36 = errors;
if(!(validate36(data.target, {instancePath:instancePath+"/target"}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
var valid0 = _errs36 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.fields !== undefined){
let data18 = data.fields;
const _errs37 = errors;
if(errors === _errs37){
if(Array.isArray(data18)){
var valid3 = true;
const len1 = data18.length;
for(let i1=0; i1<len1; i1++){
const _errs39 = errors;
if(!(validate256(data18[i1], {instancePath:instancePath+"/fields/" + i1}))){
vErrors = vErrors === null ? validate256.errors : vErrors.concat(validate256.errors);
errors = vErrors.length;
}
var valid3 = _errs39 === errors;
if(!valid3){
break;
}
}
}
else {
validate251.errors = [{instancePath:instancePath+"/fields",keyword:"type"}];
return false;
}
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.policies !== undefined){
let data20 = data.policies;
const _errs40 = errors;
if(errors === _errs40){
if(Array.isArray(data20)){
var valid4 = true;
const len2 = data20.length;
for(let i2=0; i2<len2; i2++){
const _errs42 = errors;
if(!(validate260(data20[i2], {instancePath:instancePath+"/policies/" + i2}))){
vErrors = vErrors === null ? validate260.errors : vErrors.concat(validate260.errors);
errors = vErrors.length;
}
var valid4 = _errs42 === errors;
if(!valid4){
break;
}
}
}
else {
validate251.errors = [{instancePath:instancePath+"/policies",keyword:"type"}];
return false;
}
}
var valid0 = _errs40 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.marks !== undefined){
let data22 = data.marks;
const _errs43 = errors;
if(errors === _errs43){
if(Array.isArray(data22)){
var valid5 = true;
const len3 = data22.length;
for(let i3=0; i3<len3; i3++){
const _errs45 = errors;
if(!(validate264(data22[i3], {instancePath:instancePath+"/marks/" + i3}))){
vErrors = vErrors === null ? validate264.errors : vErrors.concat(validate264.errors);
errors = vErrors.length;
}
var valid5 = _errs45 === errors;
if(!valid5){
break;
}
}
}
else {
validate251.errors = [{instancePath:instancePath+"/marks",keyword:"type"}];
return false;
}
}
var valid0 = _errs43 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.losses !== undefined){
const _errs46 = errors;
if(!(validate241(data.losses, {instancePath:instancePath+"/losses"}))){
vErrors = vErrors === null ? validate241.errors : vErrors.concat(validate241.errors);
errors = vErrors.length;
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counts !== undefined){
const _errs47 = errors;
if(!(validate243(data.counts, {instancePath:instancePath+"/counts"}))){
vErrors = vErrors === null ? validate243.errors : vErrors.concat(validate243.errors);
errors = vErrors.length;
}
var valid0 = _errs47 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counters_from !== undefined){
let data26 = data.counters_from;
const _errs48 = errors;
if(errors === _errs48){
if(Array.isArray(data26)){
var valid6 = true;
const len4 = data26.length;
for(let i4=0; i4<len4; i4++){
const _errs50 = errors;
if(!(validate113(data26[i4], {instancePath:instancePath+"/counters_from/" + i4}))){
vErrors = vErrors === null ? validate113.errors : vErrors.concat(validate113.errors);
errors = vErrors.length;
}
var valid6 = _errs50 === errors;
if(!valid6){
break;
}
}
}
else {
validate251.errors = [{instancePath:instancePath+"/counters_from",keyword:"type"}];
return false;
}
}
var valid0 = _errs48 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.outcome !== undefined){
let data28 = data.outcome;
const _errs51 = errors;
const _errs52 = errors;
let valid7 = false;
const _errs53 = errors;
if(!(validate269(data28, {instancePath:instancePath+"/outcome"}))){
vErrors = vErrors === null ? validate269.errors : vErrors.concat(validate269.errors);
errors = vErrors.length;
}
var _valid1 = _errs53 === errors;
valid7 = valid7 || _valid1;
if(!valid7){
const _errs54 = errors;
if(data28 !== null){
const err2 = {instancePath:instancePath+"/outcome",keyword:"type"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid1 = _errs54 === errors;
valid7 = valid7 || _valid1;
}
if(!valid7){
const err3 = {instancePath:instancePath+"/outcome",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate251.errors = vErrors;
return false;
}
else {
errors = _errs52;
if(vErrors !== null){
if(_errs52){
vErrors.length = _errs52;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs51 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.imported !== undefined){
const _errs56 = errors;
if(typeof data.imported !== "boolean"){
validate251.errors = [{instancePath:instancePath+"/imported",keyword:"type"}];
return false;
}
var valid0 = _errs56 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate251.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate251.errors = vErrors;
return errors === 0;
}
export const isComparison = validate271;
function validate272(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate272.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!(((data === "start") || (data === "policy")) || (data === "mark"))){
validate272.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate272.errors = vErrors;
return errors === 0;
}
function validate274(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate274.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((data === "rates") || (data === "totals"))){
validate274.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate274.errors = vErrors;
return errors === 0;
}
function validate276(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "string"){
validate276.errors = [{instancePath,keyword:"type"}];
return false;
}
if(!((data === "none") || (data === "process"))){
validate276.errors = [{instancePath,keyword:"enum"}];
return false;
}
validate276.errors = vErrors;
return errors === 0;
}
function validate278(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.run === undefined) && (missing0 = "run")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.group === undefined) && (missing0 = "group"))) || ((data.zero_ns === undefined) && (missing0 = "zero_ns"))) || ((data.started_unix_us === undefined) && (missing0 = "started_unix_us"))) || ((data.align_problem === undefined) && (missing0 = "align_problem"))) || ((data.duration_ns === undefined) && (missing0 = "duration_ns"))) || ((data.losses === undefined) && (missing0 = "losses"))){
validate278.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.run !== undefined){
const _errs1 = errors;
if(typeof data.run !== "string"){
validate278.errors = [{instancePath:instancePath+"/run",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate278.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group !== undefined){
let data2 = data.group;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate278.errors = [{instancePath:instancePath+"/group",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate278.errors = [{instancePath:instancePath+"/group",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.zero_ns !== undefined){
let data3 = data.zero_ns;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate278.errors = [{instancePath:instancePath+"/zero_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate278.errors = [{instancePath:instancePath+"/zero_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_unix_us !== undefined){
let data4 = data.started_unix_us;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate278.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate278.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.align_problem !== undefined){
let data5 = data.align_problem;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate278.errors = [{instancePath:instancePath+"/align_problem",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.duration_ns !== undefined){
let data6 = data.duration_ns;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate278.errors = [{instancePath:instancePath+"/duration_ns",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate278.errors = [{instancePath:instancePath+"/duration_ns",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.losses !== undefined){
const _errs15 = errors;
if(!(validate241(data.losses, {instancePath:instancePath+"/losses"}))){
vErrors = vErrors === null ? validate241.errors : vErrors.concat(validate241.errors);
errors = vErrors.length;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.children_cpu_us !== undefined){
let data8 = data.children_cpu_us;
const _errs16 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate278.errors = [{instancePath:instancePath+"/children_cpu_us",keyword:"type"}];
return false;
}
if(errors === _errs16){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate278.errors = [{instancePath:instancePath+"/children_cpu_us",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate278.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate278.errors = vErrors;
return errors === 0;
}
function validate281(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.label === undefined) && (missing0 = "label")) || ((data.runs === undefined) && (missing0 = "runs"))){
validate281.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.label !== undefined){
const _errs1 = errors;
if(typeof data.label !== "string"){
validate281.errors = [{instancePath:instancePath+"/label",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.runs !== undefined){
let data1 = data.runs;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(typeof data1[i0] !== "string"){
validate281.errors = [{instancePath:instancePath+"/runs/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate281.errors = [{instancePath:instancePath+"/runs",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate281.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate281.errors = vErrors;
return errors === 0;
}
function validate283(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.what === undefined) && (missing0 = "what")) || ((data.values === undefined) && (missing0 = "values"))){
validate283.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.what !== undefined){
const _errs1 = errors;
if(typeof data.what !== "string"){
validate283.errors = [{instancePath:instancePath+"/what",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.values !== undefined){
let data1 = data.values;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(typeof data1[i0] !== "string"){
validate283.errors = [{instancePath:instancePath+"/values/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate283.errors = [{instancePath:instancePath+"/values",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate283.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate283.errors = vErrors;
return errors === 0;
}
function validate285(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.label === undefined) && (missing0 = "label")) || ((data.roles === undefined) && (missing0 = "roles"))) || ((data.manual === undefined) && (missing0 = "manual"))){
validate285.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.label !== undefined){
const _errs1 = errors;
if(typeof data.label !== "string"){
validate285.errors = [{instancePath:instancePath+"/label",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.roles !== undefined){
let data1 = data.roles;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs5 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate285.errors = [{instancePath:instancePath+"/roles/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate285.errors = [{instancePath:instancePath+"/roles",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.manual !== undefined){
const _errs7 = errors;
if(typeof data.manual !== "boolean"){
validate285.errors = [{instancePath:instancePath+"/manual",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate285.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate285.errors = vErrors;
return errors === 0;
}
function validate289(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.values === undefined) && (missing0 = "values")) || ((data.n === undefined) && (missing0 = "n"))) || ((data.mean === undefined) && (missing0 = "mean"))) || ((data.std_dev === undefined) && (missing0 = "std_dev"))) || ((data.low === undefined) && (missing0 = "low"))) || ((data.high === undefined) && (missing0 = "high"))){
validate289.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.values !== undefined){
let data0 = data.values;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
const _errs3 = errors;
if((!(typeof data1 == "number")) && (data1 !== null)){
validate289.errors = [{instancePath:instancePath+"/values/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate289.errors = [{instancePath:instancePath+"/values",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.n !== undefined){
let data2 = data.n;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate289.errors = [{instancePath:instancePath+"/n",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate289.errors = [{instancePath:instancePath+"/n",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mean !== undefined){
let data3 = data.mean;
const _errs7 = errors;
if((!(typeof data3 == "number")) && (data3 !== null)){
validate289.errors = [{instancePath:instancePath+"/mean",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.std_dev !== undefined){
let data4 = data.std_dev;
const _errs9 = errors;
if((!(typeof data4 == "number")) && (data4 !== null)){
validate289.errors = [{instancePath:instancePath+"/std_dev",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low !== undefined){
let data5 = data.low;
const _errs11 = errors;
if((!(typeof data5 == "number")) && (data5 !== null)){
validate289.errors = [{instancePath:instancePath+"/low",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high !== undefined){
let data6 = data.high;
const _errs13 = errors;
if((!(typeof data6 == "number")) && (data6 !== null)){
validate289.errors = [{instancePath:instancePath+"/high",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate289.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate289.errors = vErrors;
return errors === 0;
}
function validate291(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.absolute === undefined) && (missing0 = "absolute")) || ((data.percent === undefined) && (missing0 = "percent"))) || ((data.low === undefined) && (missing0 = "low"))) || ((data.high === undefined) && (missing0 = "high"))) || ((data.method === undefined) && (missing0 = "method"))) || ((data.verdict === undefined) && (missing0 = "verdict"))) || ((data.caveat === undefined) && (missing0 = "caveat"))){
validate291.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.absolute !== undefined){
let data0 = data.absolute;
const _errs1 = errors;
if((!(typeof data0 == "number")) && (data0 !== null)){
validate291.errors = [{instancePath:instancePath+"/absolute",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.percent !== undefined){
let data1 = data.percent;
const _errs3 = errors;
if((!(typeof data1 == "number")) && (data1 !== null)){
validate291.errors = [{instancePath:instancePath+"/percent",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low !== undefined){
let data2 = data.low;
const _errs5 = errors;
if((!(typeof data2 == "number")) && (data2 !== null)){
validate291.errors = [{instancePath:instancePath+"/low",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high !== undefined){
let data3 = data.high;
const _errs7 = errors;
if((!(typeof data3 == "number")) && (data3 !== null)){
validate291.errors = [{instancePath:instancePath+"/high",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.method !== undefined){
let data4 = data.method;
const _errs9 = errors;
if(typeof data4 !== "string"){
validate291.errors = [{instancePath:instancePath+"/method",keyword:"type"}];
return false;
}
if(!((((data4 === "welch") || (data4 === "paired")) || (data4 === "slices")) || (data4 === "none"))){
validate291.errors = [{instancePath:instancePath+"/method",keyword:"enum"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.verdict !== undefined){
let data5 = data.verdict;
const _errs11 = errors;
if(typeof data5 !== "string"){
validate291.errors = [{instancePath:instancePath+"/verdict",keyword:"type"}];
return false;
}
if(!(((((((data5 === "better") || (data5 === "worse")) || (data5 === "more")) || (data5 === "less")) || (data5 === "equal")) || (data5 === "unclear")) || (data5 === "unknown"))){
validate291.errors = [{instancePath:instancePath+"/verdict",keyword:"enum"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.caveat !== undefined){
let data6 = data.caveat;
const _errs13 = errors;
if((typeof data6 !== "string") && (data6 !== null)){
validate291.errors = [{instancePath:instancePath+"/caveat",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate291.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate291.errors = vErrors;
return errors === 0;
}
function validate287(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.metric === undefined) && (missing0 = "metric")) || ((data.label === undefined) && (missing0 = "label"))) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.role === undefined) && (missing0 = "role"))) || ((data.provenance === undefined) && (missing0 = "provenance"))) || ((data.better === undefined) && (missing0 = "better"))) || ((data.groups === undefined) && (missing0 = "groups"))) || ((data.differences === undefined) && (missing0 = "differences"))){
validate287.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.metric !== undefined){
const _errs1 = errors;
if(typeof data.metric !== "string"){
validate287.errors = [{instancePath:instancePath+"/metric",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.label !== undefined){
const _errs3 = errors;
if(typeof data.label !== "string"){
validate287.errors = [{instancePath:instancePath+"/label",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
const _errs5 = errors;
if(typeof data.unit !== "string"){
validate287.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role !== undefined){
let data3 = data.role;
const _errs7 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate287.errors = [{instancePath:instancePath+"/role",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.provenance !== undefined){
const _errs9 = errors;
if(!(validate257(data.provenance, {instancePath:instancePath+"/provenance"}))){
vErrors = vErrors === null ? validate257.errors : vErrors.concat(validate257.errors);
errors = vErrors.length;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.better !== undefined){
let data5 = data.better;
const _errs10 = errors;
if(typeof data5 !== "string"){
validate287.errors = [{instancePath:instancePath+"/better",keyword:"type"}];
return false;
}
if(!(((data5 === "less") || (data5 === "more")) || (data5 === "neither"))){
validate287.errors = [{instancePath:instancePath+"/better",keyword:"enum"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.groups !== undefined){
let data6 = data.groups;
const _errs12 = errors;
if(errors === _errs12){
if(Array.isArray(data6)){
var valid1 = true;
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
const _errs14 = errors;
if(!(validate289(data6[i0], {instancePath:instancePath+"/groups/" + i0}))){
vErrors = vErrors === null ? validate289.errors : vErrors.concat(validate289.errors);
errors = vErrors.length;
}
var valid1 = _errs14 === errors;
if(!valid1){
break;
}
}
}
else {
validate287.errors = [{instancePath:instancePath+"/groups",keyword:"type"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.differences !== undefined){
let data8 = data.differences;
const _errs15 = errors;
if(errors === _errs15){
if(Array.isArray(data8)){
var valid2 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
const _errs17 = errors;
if(!(validate291(data8[i1], {instancePath:instancePath+"/differences/" + i1}))){
vErrors = vErrors === null ? validate291.errors : vErrors.concat(validate291.errors);
errors = vErrors.length;
}
var valid2 = _errs17 === errors;
if(!valid2){
break;
}
}
}
else {
validate287.errors = [{instancePath:instancePath+"/differences",keyword:"type"}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate287.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate287.errors = vErrors;
return errors === 0;
}
function validate294(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.run === undefined) && (missing0 = "run")) || ((data.metric === undefined) && (missing0 = "metric"))) || ((data.role === undefined) && (missing0 = "role"))) || ((data.time_s === undefined) && (missing0 = "time_s"))) || ((data.value === undefined) && (missing0 = "value"))){
validate294.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.run !== undefined){
const _errs1 = errors;
if(typeof data.run !== "string"){
validate294.errors = [{instancePath:instancePath+"/run",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.metric !== undefined){
const _errs3 = errors;
if(typeof data.metric !== "string"){
validate294.errors = [{instancePath:instancePath+"/metric",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role !== undefined){
let data2 = data.role;
const _errs5 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate294.errors = [{instancePath:instancePath+"/role",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.time_s !== undefined){
let data3 = data.time_s;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
const _errs9 = errors;
if(!(typeof data3[i0] == "number")){
validate294.errors = [{instancePath:instancePath+"/time_s/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs9 === errors;
if(!valid1){
break;
}
}
}
else {
validate294.errors = [{instancePath:instancePath+"/time_s",keyword:"type"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.value !== undefined){
let data5 = data.value;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data5)){
var valid2 = true;
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
let data6 = data5[i1];
const _errs13 = errors;
if((!(typeof data6 == "number")) && (data6 !== null)){
validate294.errors = [{instancePath:instancePath+"/value/" + i1,keyword:"type"}];
return false;
}
var valid2 = _errs13 === errors;
if(!valid2){
break;
}
}
}
else {
validate294.errors = [{instancePath:instancePath+"/value",keyword:"type"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate294.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate294.errors = vErrors;
return errors === 0;
}
function validate271(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((data.align === undefined) && (missing0 = "align")) || ((data.mark === undefined) && (missing0 = "mark"))) || ((data.basis === undefined) && (missing0 = "basis"))) || ((data.split === undefined) && (missing0 = "split"))) || ((data.several_processes === undefined) && (missing0 = "several_processes"))) || ((data.same_length === undefined) && (missing0 = "same_length"))) || ((data.runs === undefined) && (missing0 = "runs"))) || ((data.groups === undefined) && (missing0 = "groups"))) || ((data.setup === undefined) && (missing0 = "setup"))) || ((data.roles === undefined) && (missing0 = "roles"))) || ((data.metrics === undefined) && (missing0 = "metrics"))) || ((data.series === undefined) && (missing0 = "series"))) || ((data.confidence === undefined) && (missing0 = "confidence"))){
validate271.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.align !== undefined){
const _errs1 = errors;
if(!(validate272(data.align, {instancePath:instancePath+"/align"}))){
vErrors = vErrors === null ? validate272.errors : vErrors.concat(validate272.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mark !== undefined){
let data1 = data.mark;
const _errs2 = errors;
if((typeof data1 !== "string") && (data1 !== null)){
validate271.errors = [{instancePath:instancePath+"/mark",keyword:"type"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.basis !== undefined){
const _errs4 = errors;
if(!(validate274(data.basis, {instancePath:instancePath+"/basis"}))){
vErrors = vErrors === null ? validate274.errors : vErrors.concat(validate274.errors);
errors = vErrors.length;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.split !== undefined){
const _errs5 = errors;
if(!(validate276(data.split, {instancePath:instancePath+"/split"}))){
vErrors = vErrors === null ? validate276.errors : vErrors.concat(validate276.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.several_processes !== undefined){
const _errs6 = errors;
if(typeof data.several_processes !== "boolean"){
validate271.errors = [{instancePath:instancePath+"/several_processes",keyword:"type"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.same_length !== undefined){
const _errs8 = errors;
if(typeof data.same_length !== "boolean"){
validate271.errors = [{instancePath:instancePath+"/same_length",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.runs !== undefined){
let data6 = data.runs;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data6)){
var valid1 = true;
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
const _errs12 = errors;
if(!(validate278(data6[i0], {instancePath:instancePath+"/runs/" + i0}))){
vErrors = vErrors === null ? validate278.errors : vErrors.concat(validate278.errors);
errors = vErrors.length;
}
var valid1 = _errs12 === errors;
if(!valid1){
break;
}
}
}
else {
validate271.errors = [{instancePath:instancePath+"/runs",keyword:"type"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.groups !== undefined){
let data8 = data.groups;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data8)){
var valid2 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
const _errs15 = errors;
if(!(validate281(data8[i1], {instancePath:instancePath+"/groups/" + i1}))){
vErrors = vErrors === null ? validate281.errors : vErrors.concat(validate281.errors);
errors = vErrors.length;
}
var valid2 = _errs15 === errors;
if(!valid2){
break;
}
}
}
else {
validate271.errors = [{instancePath:instancePath+"/groups",keyword:"type"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.setup !== undefined){
let data10 = data.setup;
const _errs16 = errors;
if(errors === _errs16){
if(Array.isArray(data10)){
var valid3 = true;
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
const _errs18 = errors;
if(!(validate283(data10[i2], {instancePath:instancePath+"/setup/" + i2}))){
vErrors = vErrors === null ? validate283.errors : vErrors.concat(validate283.errors);
errors = vErrors.length;
}
var valid3 = _errs18 === errors;
if(!valid3){
break;
}
}
}
else {
validate271.errors = [{instancePath:instancePath+"/setup",keyword:"type"}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.roles !== undefined){
let data12 = data.roles;
const _errs19 = errors;
if(errors === _errs19){
if(Array.isArray(data12)){
var valid4 = true;
const len3 = data12.length;
for(let i3=0; i3<len3; i3++){
const _errs21 = errors;
if(!(validate285(data12[i3], {instancePath:instancePath+"/roles/" + i3}))){
vErrors = vErrors === null ? validate285.errors : vErrors.concat(validate285.errors);
errors = vErrors.length;
}
var valid4 = _errs21 === errors;
if(!valid4){
break;
}
}
}
else {
validate271.errors = [{instancePath:instancePath+"/roles",keyword:"type"}];
return false;
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.metrics !== undefined){
let data14 = data.metrics;
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data14)){
var valid5 = true;
const len4 = data14.length;
for(let i4=0; i4<len4; i4++){
const _errs24 = errors;
if(!(validate287(data14[i4], {instancePath:instancePath+"/metrics/" + i4}))){
vErrors = vErrors === null ? validate287.errors : vErrors.concat(validate287.errors);
errors = vErrors.length;
}
var valid5 = _errs24 === errors;
if(!valid5){
break;
}
}
}
else {
validate271.errors = [{instancePath:instancePath+"/metrics",keyword:"type"}];
return false;
}
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.series !== undefined){
let data16 = data.series;
const _errs25 = errors;
if(errors === _errs25){
if(Array.isArray(data16)){
var valid6 = true;
const len5 = data16.length;
for(let i5=0; i5<len5; i5++){
const _errs27 = errors;
if(!(validate294(data16[i5], {instancePath:instancePath+"/series/" + i5}))){
vErrors = vErrors === null ? validate294.errors : vErrors.concat(validate294.errors);
errors = vErrors.length;
}
var valid6 = _errs27 === errors;
if(!valid6){
break;
}
}
}
else {
validate271.errors = [{instancePath:instancePath+"/series",keyword:"type"}];
return false;
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.confidence !== undefined){
const _errs28 = errors;
if(typeof data.confidence !== "string"){
validate271.errors = [{instancePath:instancePath+"/confidence",keyword:"type"}];
return false;
}
var valid0 = _errs28 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate271.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate271.errors = vErrors;
return errors === 0;
}
export const isExperiment = validate296;
function validate297(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((((data.id === undefined) && (missing0 = "id")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.title === undefined) && (missing0 = "title"))) || ((data.quick === undefined) && (missing0 = "quick"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.started_unix_us === undefined) && (missing0 = "started_unix_us"))) || ((data.workloads === undefined) && (missing0 = "workloads"))) || ((data.cells === undefined) && (missing0 = "cells"))) || ((data.cells_done === undefined) && (missing0 = "cells_done"))) || ((data.repeats === undefined) && (missing0 = "repeats"))) || ((data.least_left === undefined) && (missing0 = "least_left"))) || ((data.most_left === undefined) && (missing0 = "most_left"))) || ((data.left_s === undefined) && (missing0 = "left_s"))) || ((data.cell === undefined) && (missing0 = "cell"))) || ((data.targets === undefined) && (missing0 = "targets"))){
validate297.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate297.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if(typeof data.name !== "string"){
validate297.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs5 = errors;
if(typeof data.title !== "string"){
validate297.errors = [{instancePath:instancePath+"/title",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.quick !== undefined){
const _errs7 = errors;
if(typeof data.quick !== "boolean"){
validate297.errors = [{instancePath:instancePath+"/quick",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
let data4 = data.state;
const _errs9 = errors;
if(typeof data4 !== "string"){
validate297.errors = [{instancePath:instancePath+"/state",keyword:"type"}];
return false;
}
if(!(((data4 === "running") || (data4 === "complete")) || (data4 === "interrupted"))){
validate297.errors = [{instancePath:instancePath+"/state",keyword:"enum"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_unix_us !== undefined){
let data5 = data.started_unix_us;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate297.errors = [{instancePath:instancePath+"/started_unix_us",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.workloads !== undefined){
let data6 = data.workloads;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data6)){
var valid1 = true;
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
const _errs15 = errors;
if(typeof data6[i0] !== "string"){
validate297.errors = [{instancePath:instancePath+"/workloads/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs15 === errors;
if(!valid1){
break;
}
}
}
else {
validate297.errors = [{instancePath:instancePath+"/workloads",keyword:"type"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cells !== undefined){
let data8 = data.cells;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate297.errors = [{instancePath:instancePath+"/cells",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate297.errors = [{instancePath:instancePath+"/cells",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cells_done !== undefined){
let data9 = data.cells_done;
const _errs19 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate297.errors = [{instancePath:instancePath+"/cells_done",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate297.errors = [{instancePath:instancePath+"/cells_done",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.repeats !== undefined){
let data10 = data.repeats;
const _errs21 = errors;
if(!((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10)))){
validate297.errors = [{instancePath:instancePath+"/repeats",keyword:"type"}];
return false;
}
if(errors === _errs21){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate297.errors = [{instancePath:instancePath+"/repeats",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.least_left !== undefined){
let data11 = data.least_left;
const _errs23 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate297.errors = [{instancePath:instancePath+"/least_left",keyword:"type"}];
return false;
}
if(errors === _errs23){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate297.errors = [{instancePath:instancePath+"/least_left",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.most_left !== undefined){
let data12 = data.most_left;
const _errs25 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate297.errors = [{instancePath:instancePath+"/most_left",keyword:"type"}];
return false;
}
if(errors === _errs25){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate297.errors = [{instancePath:instancePath+"/most_left",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.left_s !== undefined){
let data13 = data.left_s;
const _errs27 = errors;
if((!(typeof data13 == "number")) && (data13 !== null)){
validate297.errors = [{instancePath:instancePath+"/left_s",keyword:"type"}];
return false;
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cell !== undefined){
let data14 = data.cell;
const _errs29 = errors;
if((typeof data14 !== "string") && (data14 !== null)){
validate297.errors = [{instancePath:instancePath+"/cell",keyword:"type"}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.targets !== undefined){
let data15 = data.targets;
const _errs31 = errors;
if(errors === _errs31){
if(Array.isArray(data15)){
var valid2 = true;
const len1 = data15.length;
for(let i1=0; i1<len1; i1++){
const _errs33 = errors;
if(typeof data15[i1] !== "string"){
validate297.errors = [{instancePath:instancePath+"/targets/" + i1,keyword:"type"}];
return false;
}
var valid2 = _errs33 === errors;
if(!valid2){
break;
}
}
}
else {
validate297.errors = [{instancePath:instancePath+"/targets",keyword:"type"}];
return false;
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate297.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate297.errors = vErrors;
return errors === 0;
}
function validate299(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.name === undefined) && (missing0 = "name")) || ((data.value === undefined) && (missing0 = "value"))){
validate299.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate299.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.value !== undefined){
const _errs3 = errors;
if(typeof data.value !== "string"){
validate299.errors = [{instancePath:instancePath+"/value",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate299.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate299.errors = vErrors;
return errors === 0;
}
function validate303(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.name === undefined) && (missing0 = "name")) || ((data.label === undefined) && (missing0 = "label"))) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.figure === undefined) && (missing0 = "figure"))) || ((data.gain === undefined) && (missing0 = "gain"))){
validate303.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate303.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.label !== undefined){
const _errs3 = errors;
if(typeof data.label !== "string"){
validate303.errors = [{instancePath:instancePath+"/label",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
const _errs5 = errors;
if(typeof data.unit !== "string"){
validate303.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.figure !== undefined){
const _errs7 = errors;
if(!(validate289(data.figure, {instancePath:instancePath+"/figure"}))){
vErrors = vErrors === null ? validate289.errors : vErrors.concat(validate289.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.gain !== undefined){
let data4 = data.gain;
const _errs8 = errors;
const _errs9 = errors;
let valid1 = false;
const _errs10 = errors;
if(!(validate291(data4, {instancePath:instancePath+"/gain"}))){
vErrors = vErrors === null ? validate291.errors : vErrors.concat(validate291.errors);
errors = vErrors.length;
}
var _valid0 = _errs10 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs11 = errors;
if(data4 !== null){
const err0 = {instancePath:instancePath+"/gain",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs11 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err1 = {instancePath:instancePath+"/gain",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate303.errors = vErrors;
return false;
}
else {
errors = _errs9;
if(vErrors !== null){
if(_errs9){
vErrors.length = _errs9;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate303.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate303.errors = vErrors;
return errors === 0;
}
function validate301(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.key === undefined) && (missing0 = "key")) || ((data.values === undefined) && (missing0 = "values"))) || ((data.standing === undefined) && (missing0 = "standing"))) || ((data.baseline === undefined) && (missing0 = "baseline"))) || ((data.runs === undefined) && (missing0 = "runs"))) || ((data.figures === undefined) && (missing0 = "figures"))) || ((data.failures === undefined) && (missing0 = "failures"))) || ((data.warnings === undefined) && (missing0 = "warnings"))){
validate301.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.key !== undefined){
const _errs1 = errors;
if(typeof data.key !== "string"){
validate301.errors = [{instancePath:instancePath+"/key",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.values !== undefined){
let data1 = data.values;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate299(data1[i0], {instancePath:instancePath+"/values/" + i0}))){
vErrors = vErrors === null ? validate299.errors : vErrors.concat(validate299.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate301.errors = [{instancePath:instancePath+"/values",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.standing !== undefined){
let data3 = data.standing;
const _errs6 = errors;
if(typeof data3 !== "string"){
validate301.errors = [{instancePath:instancePath+"/standing",keyword:"type"}];
return false;
}
if(!((((data3 === "open") || (data3 === "steady")) || (data3 === "maximum")) || (data3 === "failed"))){
validate301.errors = [{instancePath:instancePath+"/standing",keyword:"enum"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.baseline !== undefined){
let data4 = data.baseline;
const _errs8 = errors;
if((typeof data4 !== "string") && (data4 !== null)){
validate301.errors = [{instancePath:instancePath+"/baseline",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.runs !== undefined){
let data5 = data.runs;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data5)){
var valid2 = true;
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
const _errs12 = errors;
if(typeof data5[i1] !== "string"){
validate301.errors = [{instancePath:instancePath+"/runs/" + i1,keyword:"type"}];
return false;
}
var valid2 = _errs12 === errors;
if(!valid2){
break;
}
}
}
else {
validate301.errors = [{instancePath:instancePath+"/runs",keyword:"type"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.figures !== undefined){
let data7 = data.figures;
const _errs14 = errors;
if(errors === _errs14){
if(Array.isArray(data7)){
var valid3 = true;
const len2 = data7.length;
for(let i2=0; i2<len2; i2++){
const _errs16 = errors;
if(!(validate303(data7[i2], {instancePath:instancePath+"/figures/" + i2}))){
vErrors = vErrors === null ? validate303.errors : vErrors.concat(validate303.errors);
errors = vErrors.length;
}
var valid3 = _errs16 === errors;
if(!valid3){
break;
}
}
}
else {
validate301.errors = [{instancePath:instancePath+"/figures",keyword:"type"}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.failures !== undefined){
let data9 = data.failures;
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data9)){
var valid4 = true;
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
const _errs19 = errors;
if(typeof data9[i3] !== "string"){
validate301.errors = [{instancePath:instancePath+"/failures/" + i3,keyword:"type"}];
return false;
}
var valid4 = _errs19 === errors;
if(!valid4){
break;
}
}
}
else {
validate301.errors = [{instancePath:instancePath+"/failures",keyword:"type"}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.warnings !== undefined){
let data11 = data.warnings;
const _errs21 = errors;
if(errors === _errs21){
if(Array.isArray(data11)){
var valid5 = true;
const len4 = data11.length;
for(let i4=0; i4<len4; i4++){
const _errs23 = errors;
if(typeof data11[i4] !== "string"){
validate301.errors = [{instancePath:instancePath+"/warnings/" + i4,keyword:"type"}];
return false;
}
var valid5 = _errs23 === errors;
if(!valid5){
break;
}
}
}
else {
validate301.errors = [{instancePath:instancePath+"/warnings",keyword:"type"}];
return false;
}
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate301.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate301.errors = vErrors;
return errors === 0;
}
function validate310(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.x === undefined) && (missing0 = "x")) || ((data.at === undefined) && (missing0 = "at"))) || ((data.mean === undefined) && (missing0 = "mean"))) || ((data.low === undefined) && (missing0 = "low"))) || ((data.high === undefined) && (missing0 = "high"))) || ((data.values === undefined) && (missing0 = "values"))){
validate310.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.x !== undefined){
let data0 = data.x;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate310.errors = [{instancePath:instancePath+"/x",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate310.errors = [{instancePath:instancePath+"/x",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.at !== undefined){
let data1 = data.at;
const _errs3 = errors;
if((!(typeof data1 == "number")) && (data1 !== null)){
validate310.errors = [{instancePath:instancePath+"/at",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mean !== undefined){
const _errs5 = errors;
if(!(typeof data.mean == "number")){
validate310.errors = [{instancePath:instancePath+"/mean",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.low !== undefined){
let data3 = data.low;
const _errs7 = errors;
if((!(typeof data3 == "number")) && (data3 !== null)){
validate310.errors = [{instancePath:instancePath+"/low",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.high !== undefined){
let data4 = data.high;
const _errs9 = errors;
if((!(typeof data4 == "number")) && (data4 !== null)){
validate310.errors = [{instancePath:instancePath+"/high",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.values !== undefined){
let data5 = data.values;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data5)){
var valid1 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
const _errs13 = errors;
if(!(typeof data5[i0] == "number")){
validate310.errors = [{instancePath:instancePath+"/values/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs13 === errors;
if(!valid1){
break;
}
}
}
else {
validate310.errors = [{instancePath:instancePath+"/values",keyword:"type"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate310.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate310.errors = vErrors;
return errors === 0;
}
function validate309(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.name === undefined) && (missing0 = "name")) || ((data.points === undefined) && (missing0 = "points"))){
validate309.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate309.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.points !== undefined){
let data1 = data.points;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate310(data1[i0], {instancePath:instancePath+"/points/" + i0}))){
vErrors = vErrors === null ? validate310.errors : vErrors.concat(validate310.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate309.errors = [{instancePath:instancePath+"/points",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate309.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate309.errors = vErrors;
return errors === 0;
}
function validate308(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.id === undefined) && (missing0 = "id")) || ((data.title === undefined) && (missing0 = "title"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.x_label === undefined) && (missing0 = "x_label"))) || ((data.x === undefined) && (missing0 = "x"))) || ((data.y_label === undefined) && (missing0 = "y_label"))) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.reference === undefined) && (missing0 = "reference"))) || ((data.series === undefined) && (missing0 = "series"))) || ((data.note === undefined) && (missing0 = "note"))){
validate308.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "string"){
validate308.errors = [{instancePath:instancePath+"/id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs3 = errors;
if(typeof data.title !== "string"){
validate308.errors = [{instancePath:instancePath+"/title",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kind !== undefined){
let data2 = data.kind;
const _errs5 = errors;
if(typeof data2 !== "string"){
validate308.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
if(!((((data2 === "lines") || (data2 === "bars")) || (data2 === "curve")) || (data2 === "stacked"))){
validate308.errors = [{instancePath:instancePath+"/kind",keyword:"enum"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.x_label !== undefined){
const _errs7 = errors;
if(typeof data.x_label !== "string"){
validate308.errors = [{instancePath:instancePath+"/x_label",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.x !== undefined){
let data4 = data.x;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data4)){
var valid1 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
const _errs11 = errors;
if(typeof data4[i0] !== "string"){
validate308.errors = [{instancePath:instancePath+"/x/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs11 === errors;
if(!valid1){
break;
}
}
}
else {
validate308.errors = [{instancePath:instancePath+"/x",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.y_label !== undefined){
const _errs13 = errors;
if(typeof data.y_label !== "string"){
validate308.errors = [{instancePath:instancePath+"/y_label",keyword:"type"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
const _errs15 = errors;
if(typeof data.unit !== "string"){
validate308.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reference !== undefined){
let data8 = data.reference;
const _errs17 = errors;
if((!(typeof data8 == "number")) && (data8 !== null)){
validate308.errors = [{instancePath:instancePath+"/reference",keyword:"type"}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.series !== undefined){
let data9 = data.series;
const _errs19 = errors;
if(errors === _errs19){
if(Array.isArray(data9)){
var valid2 = true;
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
const _errs21 = errors;
if(!(validate309(data9[i1], {instancePath:instancePath+"/series/" + i1}))){
vErrors = vErrors === null ? validate309.errors : vErrors.concat(validate309.errors);
errors = vErrors.length;
}
var valid2 = _errs21 === errors;
if(!valid2){
break;
}
}
}
else {
validate308.errors = [{instancePath:instancePath+"/series",keyword:"type"}];
return false;
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.note !== undefined){
const _errs22 = errors;
if(typeof data.note !== "string"){
validate308.errors = [{instancePath:instancePath+"/note",keyword:"type"}];
return false;
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate308.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate308.errors = vErrors;
return errors === 0;
}
function validate296(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.summary === undefined) && (missing0 = "summary")) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.least === undefined) && (missing0 = "least"))) || ((data.most === undefined) && (missing0 = "most"))) || ((data.deviation === undefined) && (missing0 = "deviation"))) || ((data.setup === undefined) && (missing0 = "setup"))) || ((data.cells === undefined) && (missing0 = "cells"))) || ((data.charts === undefined) && (missing0 = "charts"))) || ((data.warnings === undefined) && (missing0 = "warnings"))) || ((data.confidence === undefined) && (missing0 = "confidence"))){
validate296.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.summary !== undefined){
const _errs1 = errors;
if(!(validate297(data.summary, {instancePath:instancePath+"/summary"}))){
vErrors = vErrors === null ? validate297.errors : vErrors.concat(validate297.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
const _errs2 = errors;
if(typeof data.unit !== "string"){
validate296.errors = [{instancePath:instancePath+"/unit",keyword:"type"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.least !== undefined){
let data2 = data.least;
const _errs4 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate296.errors = [{instancePath:instancePath+"/least",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 1 || isNaN(data2)){
validate296.errors = [{instancePath:instancePath+"/least",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.most !== undefined){
let data3 = data.most;
const _errs6 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate296.errors = [{instancePath:instancePath+"/most",keyword:"type"}];
return false;
}
if(errors === _errs6){
if(typeof data3 == "number"){
if(data3 < 1 || isNaN(data3)){
validate296.errors = [{instancePath:instancePath+"/most",keyword:"minimum"}];
return false;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.deviation !== undefined){
const _errs8 = errors;
if(!(typeof data.deviation == "number")){
validate296.errors = [{instancePath:instancePath+"/deviation",keyword:"type"}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.setup !== undefined){
let data5 = data.setup;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data5)){
var valid1 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
const _errs12 = errors;
if(!(validate299(data5[i0], {instancePath:instancePath+"/setup/" + i0}))){
vErrors = vErrors === null ? validate299.errors : vErrors.concat(validate299.errors);
errors = vErrors.length;
}
var valid1 = _errs12 === errors;
if(!valid1){
break;
}
}
}
else {
validate296.errors = [{instancePath:instancePath+"/setup",keyword:"type"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cells !== undefined){
let data7 = data.cells;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data7)){
var valid2 = true;
const len1 = data7.length;
for(let i1=0; i1<len1; i1++){
const _errs15 = errors;
if(!(validate301(data7[i1], {instancePath:instancePath+"/cells/" + i1}))){
vErrors = vErrors === null ? validate301.errors : vErrors.concat(validate301.errors);
errors = vErrors.length;
}
var valid2 = _errs15 === errors;
if(!valid2){
break;
}
}
}
else {
validate296.errors = [{instancePath:instancePath+"/cells",keyword:"type"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.charts !== undefined){
let data9 = data.charts;
const _errs16 = errors;
if(errors === _errs16){
if(Array.isArray(data9)){
var valid3 = true;
const len2 = data9.length;
for(let i2=0; i2<len2; i2++){
const _errs18 = errors;
if(!(validate308(data9[i2], {instancePath:instancePath+"/charts/" + i2}))){
vErrors = vErrors === null ? validate308.errors : vErrors.concat(validate308.errors);
errors = vErrors.length;
}
var valid3 = _errs18 === errors;
if(!valid3){
break;
}
}
}
else {
validate296.errors = [{instancePath:instancePath+"/charts",keyword:"type"}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.warnings !== undefined){
let data11 = data.warnings;
const _errs19 = errors;
if(errors === _errs19){
if(Array.isArray(data11)){
var valid4 = true;
const len3 = data11.length;
for(let i3=0; i3<len3; i3++){
const _errs21 = errors;
if(typeof data11[i3] !== "string"){
validate296.errors = [{instancePath:instancePath+"/warnings/" + i3,keyword:"type"}];
return false;
}
var valid4 = _errs21 === errors;
if(!valid4){
break;
}
}
}
else {
validate296.errors = [{instancePath:instancePath+"/warnings",keyword:"type"}];
return false;
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.confidence !== undefined){
const _errs23 = errors;
if(typeof data.confidence !== "string"){
validate296.errors = [{instancePath:instancePath+"/confidence",keyword:"type"}];
return false;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate296.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate296.errors = vErrors;
return errors === 0;
}
export const isExperimentsResponse = validate314;
function validate314(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.experiments === undefined) && (missing0 = "experiments")) || ((data.damaged === undefined) && (missing0 = "damaged"))){
validate314.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.experiments !== undefined){
let data0 = data.experiments;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate297(data0[i0], {instancePath:instancePath+"/experiments/" + i0}))){
vErrors = vErrors === null ? validate297.errors : vErrors.concat(validate297.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate314.errors = [{instancePath:instancePath+"/experiments",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.damaged !== undefined){
let data2 = data.damaged;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
const _errs6 = errors;
if(typeof data2[i1] !== "string"){
validate314.errors = [{instancePath:instancePath+"/damaged/" + i1,keyword:"type"}];
return false;
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
else {
validate314.errors = [{instancePath:instancePath+"/damaged",keyword:"type"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate314.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate314.errors = vErrors;
return errors === 0;
}
