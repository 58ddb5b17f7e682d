// Generated from shared/schemas by tools/generate.py. Do not edit.
"use strict";
export const isTraceEndpoints = validate22;
function validate23(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.service === undefined) && (missing0 = "service")) || ((data.operation === undefined) && (missing0 = "operation"))) || ((data.traces === undefined) && (missing0 = "traces"))) || ((data.errors === undefined) && (missing0 = "errors"))) || ((data.p50_ns === undefined) && (missing0 = "p50_ns"))) || ((data.p95_ns === undefined) && (missing0 = "p95_ns"))) || ((data.p99_ns === undefined) && (missing0 = "p99_ns"))) || ((data.last_ns === undefined) && (missing0 = "last_ns"))){
validate23.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.service !== undefined){
const _errs1 = errors;
if(typeof data.service !== "string"){
validate23.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs3 = errors;
if(typeof data.operation !== "string"){
validate23.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.traces !== undefined){
let data2 = data.traces;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate23.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate23.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.errors !== undefined){
let data3 = data.errors;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate23.errors = [{instancePath:instancePath+"/errors",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate23.errors = [{instancePath:instancePath+"/errors",keyword:"minimum"}];
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
if(data.p50_ns !== undefined){
let data4 = data.p50_ns;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate23.errors = [{instancePath:instancePath+"/p50_ns",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate23.errors = [{instancePath:instancePath+"/p50_ns",keyword:"minimum"}];
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
if(data.p95_ns !== undefined){
let data5 = data.p95_ns;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate23.errors = [{instancePath:instancePath+"/p95_ns",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate23.errors = [{instancePath:instancePath+"/p95_ns",keyword:"minimum"}];
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
if(data.p99_ns !== undefined){
let data6 = data.p99_ns;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate23.errors = [{instancePath:instancePath+"/p99_ns",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate23.errors = [{instancePath:instancePath+"/p99_ns",keyword:"minimum"}];
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
if(data.last_ns !== undefined){
let data7 = data.last_ns;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate23.errors = [{instancePath:instancePath+"/last_ns",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate23.errors = [{instancePath:instancePath+"/last_ns",keyword:"minimum"}];
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
validate23.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate23.errors = vErrors;
return errors === 0;
}
function validate25(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((data.spans === undefined) && (missing0 = "spans")) || ((data.traces === undefined) && (missing0 = "traces"))) || ((data.dropped === undefined) && (missing0 = "dropped"))) || ((data.rejected === undefined) && (missing0 = "rejected"))) || ((data.expired === undefined) && (missing0 = "expired"))) || ((data.bytes === undefined) && (missing0 = "bytes"))) || ((data.refused === undefined) && (missing0 = "refused"))) || ((data.http_port === undefined) && (missing0 = "http_port"))) || ((data.grpc_port === undefined) && (missing0 = "grpc_port"))){
validate25.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.spans !== undefined){
let data0 = data.spans;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate25.errors = [{instancePath:instancePath+"/spans",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate25.errors = [{instancePath:instancePath+"/spans",keyword:"minimum"}];
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
if(data.traces !== undefined){
let data1 = data.traces;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate25.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate25.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.dropped !== undefined){
let data2 = data.dropped;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate25.errors = [{instancePath:instancePath+"/dropped",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate25.errors = [{instancePath:instancePath+"/dropped",keyword:"minimum"}];
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
if(data.rejected !== undefined){
let data3 = data.rejected;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate25.errors = [{instancePath:instancePath+"/rejected",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate25.errors = [{instancePath:instancePath+"/rejected",keyword:"minimum"}];
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
if(data.expired !== undefined){
let data4 = data.expired;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate25.errors = [{instancePath:instancePath+"/expired",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate25.errors = [{instancePath:instancePath+"/expired",keyword:"minimum"}];
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
if(data.bytes !== undefined){
let data5 = data.bytes;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate25.errors = [{instancePath:instancePath+"/bytes",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate25.errors = [{instancePath:instancePath+"/bytes",keyword:"minimum"}];
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
if(data.refused !== undefined){
let data6 = data.refused;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate25.errors = [{instancePath:instancePath+"/refused",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate25.errors = [{instancePath:instancePath+"/refused",keyword:"minimum"}];
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
if(data.http_port !== undefined){
let data7 = data.http_port;
const _errs15 = errors;
if((!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))) && (data7 !== null)){
validate25.errors = [{instancePath:instancePath+"/http_port",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate25.errors = [{instancePath:instancePath+"/http_port",keyword:"minimum"}];
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
if(data.grpc_port !== undefined){
let data8 = data.grpc_port;
const _errs17 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate25.errors = [{instancePath:instancePath+"/grpc_port",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate25.errors = [{instancePath:instancePath+"/grpc_port",keyword:"minimum"}];
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
validate25.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate25.errors = vErrors;
return errors === 0;
}
function validate22(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.endpoints === undefined) && (missing0 = "endpoints")) || ((data.received === undefined) && (missing0 = "received"))){
validate22.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.endpoints !== undefined){
let data0 = data.endpoints;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate23(data0[i0], {instancePath:instancePath+"/endpoints/" + i0}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate22.errors = [{instancePath:instancePath+"/endpoints",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.received !== undefined){
const _errs4 = errors;
if(!(validate25(data.received, {instancePath:instancePath+"/received"}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
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
validate22.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate22.errors = vErrors;
return errors === 0;
}
export const isTraceList = validate27;
function validate28(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.trace_id === undefined) && (missing0 = "trace_id")) || ((data.service === undefined) && (missing0 = "service"))) || ((data.operation === undefined) && (missing0 = "operation"))) || ((data.start_ns === undefined) && (missing0 = "start_ns"))) || ((data.duration_ns === undefined) && (missing0 = "duration_ns"))) || ((data.spans === undefined) && (missing0 = "spans"))) || ((data.services === undefined) && (missing0 = "services"))) || ((data.errors === undefined) && (missing0 = "errors"))){
validate28.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.trace_id !== undefined){
const _errs1 = errors;
if(typeof data.trace_id !== "string"){
validate28.errors = [{instancePath:instancePath+"/trace_id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service !== undefined){
const _errs3 = errors;
if(typeof data.service !== "string"){
validate28.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs5 = errors;
if(typeof data.operation !== "string"){
validate28.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ns !== undefined){
let data3 = data.start_ns;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate28.errors = [{instancePath:instancePath+"/start_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate28.errors = [{instancePath:instancePath+"/start_ns",keyword:"minimum"}];
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
if(data.duration_ns !== undefined){
let data4 = data.duration_ns;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate28.errors = [{instancePath:instancePath+"/duration_ns",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate28.errors = [{instancePath:instancePath+"/duration_ns",keyword:"minimum"}];
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
if(data.spans !== undefined){
let data5 = data.spans;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate28.errors = [{instancePath:instancePath+"/spans",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate28.errors = [{instancePath:instancePath+"/spans",keyword:"minimum"}];
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
if(data.services !== undefined){
let data6 = data.services;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate28.errors = [{instancePath:instancePath+"/services",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate28.errors = [{instancePath:instancePath+"/services",keyword:"minimum"}];
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
if(data.errors !== undefined){
let data7 = data.errors;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate28.errors = [{instancePath:instancePath+"/errors",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate28.errors = [{instancePath:instancePath+"/errors",keyword:"minimum"}];
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
if(data.on_path_ns !== undefined){
let data8 = data.on_path_ns;
const _errs17 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate28.errors = [{instancePath:instancePath+"/on_path_ns",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate28.errors = [{instancePath:instancePath+"/on_path_ns",keyword:"minimum"}];
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
validate28.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate28.errors = vErrors;
return errors === 0;
}
function validate27(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.traces === undefined) && (missing0 = "traces")){
validate27.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.traces !== undefined){
let data0 = data.traces;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate28(data0[i0], {instancePath:instancePath+"/traces/" + i0}))){
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate27.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
}
}
}
}
else {
validate27.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate27.errors = vErrors;
return errors === 0;
}
export const isTraceDetail = validate30;
function validate31(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((data.span_id === undefined) && (missing0 = "span_id")) || ((data.parent_id === undefined) && (missing0 = "parent_id"))) || ((data.service === undefined) && (missing0 = "service"))) || ((data.operation === undefined) && (missing0 = "operation"))) || ((data.start_ns === undefined) && (missing0 = "start_ns"))) || ((data.duration_ns === undefined) && (missing0 = "duration_ns"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.error === undefined) && (missing0 = "error"))) || ((data.pid === undefined) && (missing0 = "pid"))) || ((data.thread_id === undefined) && (missing0 = "thread_id"))) || ((data.attributes === undefined) && (missing0 = "attributes"))){
validate31.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.span_id !== undefined){
const _errs1 = errors;
if(typeof data.span_id !== "string"){
validate31.errors = [{instancePath:instancePath+"/span_id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parent_id !== undefined){
const _errs3 = errors;
if(typeof data.parent_id !== "string"){
validate31.errors = [{instancePath:instancePath+"/parent_id",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service !== undefined){
const _errs5 = errors;
if(typeof data.service !== "string"){
validate31.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs7 = errors;
if(typeof data.operation !== "string"){
validate31.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ns !== undefined){
let data4 = data.start_ns;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate31.errors = [{instancePath:instancePath+"/start_ns",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate31.errors = [{instancePath:instancePath+"/start_ns",keyword:"minimum"}];
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
if(data.duration_ns !== undefined){
let data5 = data.duration_ns;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate31.errors = [{instancePath:instancePath+"/duration_ns",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate31.errors = [{instancePath:instancePath+"/duration_ns",keyword:"minimum"}];
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
if(data.kind !== undefined){
let data6 = data.kind;
const _errs13 = errors;
if(typeof data6 !== "string"){
validate31.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
if(!(((((data6 === "internal") || (data6 === "server")) || (data6 === "client")) || (data6 === "producer")) || (data6 === "consumer"))){
validate31.errors = [{instancePath:instancePath+"/kind",keyword:"enum"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.error !== undefined){
const _errs15 = errors;
if(typeof data.error !== "boolean"){
validate31.errors = [{instancePath:instancePath+"/error",keyword:"type"}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pid !== undefined){
let data8 = data.pid;
const _errs17 = errors;
if((!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))) && (data8 !== null)){
validate31.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate31.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
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
if(data.thread_id !== undefined){
let data9 = data.thread_id;
const _errs19 = errors;
if((!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))) && (data9 !== null)){
validate31.errors = [{instancePath:instancePath+"/thread_id",keyword:"type"}];
return false;
}
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate31.errors = [{instancePath:instancePath+"/thread_id",keyword:"minimum"}];
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
if(data.attributes !== undefined){
let data10 = data.attributes;
const _errs21 = errors;
if(errors === _errs21){
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
for(const key0 in data10){
const _errs24 = errors;
if(typeof data10[key0] !== "string"){
validate31.errors = [{instancePath:instancePath+"/attributes/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type"}];
return false;
}
var valid1 = _errs24 === errors;
if(!valid1){
break;
}
}
}
else {
validate31.errors = [{instancePath:instancePath+"/attributes",keyword:"type"}];
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
}
}
}
else {
validate31.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate31.errors = vErrors;
return errors === 0;
}
function validate33(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.span_id === undefined) && (missing0 = "span_id")) || ((data.start_ns === undefined) && (missing0 = "start_ns"))) || ((data.end_ns === undefined) && (missing0 = "end_ns"))){
validate33.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.span_id !== undefined){
const _errs1 = errors;
if(typeof data.span_id !== "string"){
validate33.errors = [{instancePath:instancePath+"/span_id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ns !== undefined){
let data1 = data.start_ns;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate33.errors = [{instancePath:instancePath+"/start_ns",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate33.errors = [{instancePath:instancePath+"/start_ns",keyword:"minimum"}];
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
if(data.end_ns !== undefined){
let data2 = data.end_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate33.errors = [{instancePath:instancePath+"/end_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate33.errors = [{instancePath:instancePath+"/end_ns",keyword:"minimum"}];
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
validate33.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate33.errors = vErrors;
return errors === 0;
}
function validate35(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.truncated === undefined) && (missing0 = "truncated")) || ((data.dropped === undefined) && (missing0 = "dropped"))){
validate35.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.truncated !== undefined){
let data0 = data.truncated;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate35.errors = [{instancePath:instancePath+"/truncated",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate35.errors = [{instancePath:instancePath+"/truncated",keyword:"minimum"}];
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
if(data.dropped !== undefined){
let data1 = data.dropped;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate35.errors = [{instancePath:instancePath+"/dropped",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate35.errors = [{instancePath:instancePath+"/dropped",keyword:"minimum"}];
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
validate35.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate35.errors = vErrors;
return errors === 0;
}
function validate38(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.reason === undefined) && (missing0 = "reason")) || ((data.ns === undefined) && (missing0 = "ns"))){
validate38.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.reason !== undefined){
let data0 = data.reason;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate38.errors = [{instancePath:instancePath+"/reason",keyword:"type"}];
return false;
}
if(!((((((((((((data0 === "running") || (data0 === "runnable")) || (data0 === "locks")) || (data0 === "disk")) || (data0 === "network")) || (data0 === "pipes")) || (data0 === "faults")) || (data0 === "other")) || (data0 === "polling")) || (data0 === "sleep")) || (data0 === "idle")) || (data0 === "unknown"))){
validate38.errors = [{instancePath:instancePath+"/reason",keyword:"enum"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ns !== undefined){
let data1 = data.ns;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate38.errors = [{instancePath:instancePath+"/ns",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate38.errors = [{instancePath:instancePath+"/ns",keyword:"minimum"}];
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
validate38.errors = [{instancePath,keyword:"type"}];
return false;
}
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
if((((((((data.name === undefined) && (missing0 = "name")) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.wait_ns === undefined) && (missing0 = "wait_ns"))) || ((data.waits === undefined) && (missing0 = "waits"))) || ((data.over_ns === undefined) && (missing0 = "over_ns"))) || ((data.woken_by === undefined) && (missing0 = "woken_by"))){
validate40.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
const _errs1 = errors;
if(typeof data.name !== "string"){
validate40.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.kind !== undefined){
const _errs3 = errors;
if(typeof data.kind !== "string"){
validate40.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
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
validate40.errors = [{instancePath:instancePath+"/source",keyword:"type"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.wait_ns !== undefined){
let data3 = data.wait_ns;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate40.errors = [{instancePath:instancePath+"/wait_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate40.errors = [{instancePath:instancePath+"/wait_ns",keyword:"minimum"}];
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
if(data.waits !== undefined){
let data4 = data.waits;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate40.errors = [{instancePath:instancePath+"/waits",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate40.errors = [{instancePath:instancePath+"/waits",keyword:"minimum"}];
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
if(data.over_ns !== undefined){
let data5 = data.over_ns;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate40.errors = [{instancePath:instancePath+"/over_ns",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate40.errors = [{instancePath:instancePath+"/over_ns",keyword:"minimum"}];
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
if(data.woken_by !== undefined){
let data6 = data.woken_by;
const _errs13 = errors;
if((typeof data6 !== "string") && (data6 !== null)){
validate40.errors = [{instancePath:instancePath+"/woken_by",keyword:"type"}];
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
validate40.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate40.errors = vErrors;
return errors === 0;
}
function validate37(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((data.span_id === undefined) && (missing0 = "span_id")) || ((data.target_id === undefined) && (missing0 = "target_id"))) || ((data.run_id === undefined) && (missing0 = "run_id"))) || ((data.pid === undefined) && (missing0 = "pid"))) || ((data.tid === undefined) && (missing0 = "tid"))) || ((data.thread_name === undefined) && (missing0 = "thread_name"))) || ((data.joined_by === undefined) && (missing0 = "joined_by"))) || ((data.own_ns === undefined) && (missing0 = "own_ns"))) || ((data.parts === undefined) && (missing0 = "parts"))) || ((data.coverage === undefined) && (missing0 = "coverage"))) || ((data.locks === undefined) && (missing0 = "locks"))) || ((data.note === undefined) && (missing0 = "note"))){
validate37.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.span_id !== undefined){
const _errs1 = errors;
if(typeof data.span_id !== "string"){
validate37.errors = [{instancePath:instancePath+"/span_id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target_id !== undefined){
let data1 = data.target_id;
const _errs3 = errors;
if((typeof data1 !== "string") && (data1 !== null)){
validate37.errors = [{instancePath:instancePath+"/target_id",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.run_id !== undefined){
let data2 = data.run_id;
const _errs5 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate37.errors = [{instancePath:instancePath+"/run_id",keyword:"type"}];
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
validate37.errors = [{instancePath:instancePath+"/pid",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate37.errors = [{instancePath:instancePath+"/pid",keyword:"minimum"}];
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
if(data.tid !== undefined){
let data4 = data.tid;
const _errs9 = errors;
if((!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))) && (data4 !== null)){
validate37.errors = [{instancePath:instancePath+"/tid",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate37.errors = [{instancePath:instancePath+"/tid",keyword:"minimum"}];
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
if(data.thread_name !== undefined){
let data5 = data.thread_name;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate37.errors = [{instancePath:instancePath+"/thread_name",keyword:"type"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.joined_by !== undefined){
let data6 = data.joined_by;
const _errs13 = errors;
if((typeof data6 !== "string") && (data6 !== null)){
validate37.errors = [{instancePath:instancePath+"/joined_by",keyword:"type"}];
return false;
}
if(!(((data6 === "thread") || (data6 === "process")) || (data6 === null))){
validate37.errors = [{instancePath:instancePath+"/joined_by",keyword:"enum"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.own_ns !== undefined){
let data7 = data.own_ns;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate37.errors = [{instancePath:instancePath+"/own_ns",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate37.errors = [{instancePath:instancePath+"/own_ns",keyword:"minimum"}];
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
if(data.parts !== undefined){
let data8 = data.parts;
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data8)){
var valid1 = true;
const len0 = data8.length;
for(let i0=0; i0<len0; i0++){
const _errs19 = errors;
if(!(validate38(data8[i0], {instancePath:instancePath+"/parts/" + i0}))){
vErrors = vErrors === null ? validate38.errors : vErrors.concat(validate38.errors);
errors = vErrors.length;
}
var valid1 = _errs19 === errors;
if(!valid1){
break;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/parts",keyword:"type"}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coverage !== undefined){
let data10 = data.coverage;
const _errs20 = errors;
if(errors === _errs20){
if(typeof data10 == "number"){
if(data10 < 0 || isNaN(data10)){
validate37.errors = [{instancePath:instancePath+"/coverage",keyword:"minimum"}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/coverage",keyword:"type"}];
return false;
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locks !== undefined){
let data11 = data.locks;
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data11)){
var valid2 = true;
const len1 = data11.length;
for(let i1=0; i1<len1; i1++){
const _errs24 = errors;
if(!(validate40(data11[i1], {instancePath:instancePath+"/locks/" + i1}))){
vErrors = vErrors === null ? validate40.errors : vErrors.concat(validate40.errors);
errors = vErrors.length;
}
var valid2 = _errs24 === errors;
if(!valid2){
break;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/locks",keyword:"type"}];
return false;
}
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.note !== undefined){
const _errs25 = errors;
if(typeof data.note !== "string"){
validate37.errors = [{instancePath:instancePath+"/note",keyword:"type"}];
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
validate37.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate37.errors = vErrors;
return errors === 0;
}
function validate30(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.trace_id === undefined) && (missing0 = "trace_id")) || ((data.spans === undefined) && (missing0 = "spans"))) || ((data.path === undefined) && (missing0 = "path"))) || ((data.skew === undefined) && (missing0 = "skew"))) || ((data.threads === undefined) && (missing0 = "threads"))){
validate30.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.trace_id !== undefined){
const _errs1 = errors;
if(typeof data.trace_id !== "string"){
validate30.errors = [{instancePath:instancePath+"/trace_id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.spans !== undefined){
let data1 = data.spans;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate31(data1[i0], {instancePath:instancePath+"/spans/" + i0}))){
vErrors = vErrors === null ? validate31.errors : vErrors.concat(validate31.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/spans",keyword:"type"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.path !== undefined){
let data3 = data.path;
const _errs6 = errors;
if(errors === _errs6){
if(Array.isArray(data3)){
var valid2 = true;
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
const _errs8 = errors;
if(!(validate33(data3[i1], {instancePath:instancePath+"/path/" + i1}))){
vErrors = vErrors === null ? validate33.errors : vErrors.concat(validate33.errors);
errors = vErrors.length;
}
var valid2 = _errs8 === errors;
if(!valid2){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/path",keyword:"type"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.skew !== undefined){
const _errs9 = errors;
if(!(validate35(data.skew, {instancePath:instancePath+"/skew"}))){
vErrors = vErrors === null ? validate35.errors : vErrors.concat(validate35.errors);
errors = vErrors.length;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.threads !== undefined){
let data6 = data.threads;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data6)){
var valid3 = true;
const len2 = data6.length;
for(let i2=0; i2<len2; i2++){
const _errs12 = errors;
if(!(validate37(data6[i2], {instancePath:instancePath+"/threads/" + i2}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var valid3 = _errs12 === errors;
if(!valid3){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/threads",keyword:"type"}];
return false;
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
else {
validate30.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate30.errors = vErrors;
return errors === 0;
}
export const isTraceAnalysis = validate43;
function validate45(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.bounds_ns === undefined) && (missing0 = "bounds_ns")) || ((data.counts === undefined) && (missing0 = "counts"))){
validate45.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.bounds_ns !== undefined){
let data0 = data.bounds_ns;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate45.errors = [{instancePath:instancePath+"/bounds_ns/" + i0,keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate45.errors = [{instancePath:instancePath+"/bounds_ns/" + i0,keyword:"minimum"}];
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
validate45.errors = [{instancePath:instancePath+"/bounds_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.counts !== undefined){
let data2 = data.counts;
const _errs5 = errors;
if(errors === _errs5){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
let data3 = data2[i1];
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate45.errors = [{instancePath:instancePath+"/counts/" + i1,keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate45.errors = [{instancePath:instancePath+"/counts/" + i1,keyword:"minimum"}];
return false;
}
}
}
var valid2 = _errs7 === errors;
if(!valid2){
break;
}
}
}
else {
validate45.errors = [{instancePath:instancePath+"/counts",keyword:"type"}];
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
else {
validate45.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate45.errors = vErrors;
return errors === 0;
}
function validate44(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.p50_ns === undefined) && (missing0 = "p50_ns")) || ((data.p95_ns === undefined) && (missing0 = "p95_ns"))) || ((data.p99_ns === undefined) && (missing0 = "p99_ns"))) || ((data.histogram === undefined) && (missing0 = "histogram"))){
validate44.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.p50_ns !== undefined){
let data0 = data.p50_ns;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate44.errors = [{instancePath:instancePath+"/p50_ns",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate44.errors = [{instancePath:instancePath+"/p50_ns",keyword:"minimum"}];
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
if(data.p95_ns !== undefined){
let data1 = data.p95_ns;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate44.errors = [{instancePath:instancePath+"/p95_ns",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate44.errors = [{instancePath:instancePath+"/p95_ns",keyword:"minimum"}];
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
if(data.p99_ns !== undefined){
let data2 = data.p99_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate44.errors = [{instancePath:instancePath+"/p99_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate44.errors = [{instancePath:instancePath+"/p99_ns",keyword:"minimum"}];
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
if(data.histogram !== undefined){
const _errs7 = errors;
if(!(validate45(data.histogram, {instancePath:instancePath+"/histogram"}))){
vErrors = vErrors === null ? validate45.errors : vErrors.concat(validate45.errors);
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
validate44.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate44.errors = vErrors;
return errors === 0;
}
function validate49(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.service === undefined) && (missing0 = "service")) || ((data.operation === undefined) && (missing0 = "operation"))){
validate49.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.service !== undefined){
const _errs1 = errors;
if(typeof data.service !== "string"){
validate49.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs3 = errors;
if(typeof data.operation !== "string"){
validate49.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
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
validate49.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate49.errors = vErrors;
return errors === 0;
}
function validate48(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.name === undefined) && (missing0 = "name")) || ((data.parent === undefined) && (missing0 = "parent"))) || ((data.inclusive_ns === undefined) && (missing0 = "inclusive_ns"))) || ((data.exclusive_ns === undefined) && (missing0 = "exclusive_ns"))) || ((data.count === undefined) && (missing0 = "count"))) || ((data.exemplars === undefined) && (missing0 = "exemplars"))){
validate48.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
let data0 = data.name;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate49(data0[i0], {instancePath:instancePath+"/name/" + i0}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parent !== undefined){
let data2 = data.parent;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
let data3 = data2[i1];
const _errs6 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate48.errors = [{instancePath:instancePath+"/parent/" + i1,keyword:"type"}];
return false;
}
if(errors === _errs6){
if(typeof data3 == "number"){
if(data3 < -1 || isNaN(data3)){
validate48.errors = [{instancePath:instancePath+"/parent/" + i1,keyword:"minimum"}];
return false;
}
}
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/parent",keyword:"type"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.inclusive_ns !== undefined){
let data4 = data.inclusive_ns;
const _errs8 = errors;
if(errors === _errs8){
if(Array.isArray(data4)){
var valid3 = true;
const len2 = data4.length;
for(let i2=0; i2<len2; i2++){
let data5 = data4[i2];
const _errs10 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate48.errors = [{instancePath:instancePath+"/inclusive_ns/" + i2,keyword:"type"}];
return false;
}
if(errors === _errs10){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate48.errors = [{instancePath:instancePath+"/inclusive_ns/" + i2,keyword:"minimum"}];
return false;
}
}
}
var valid3 = _errs10 === errors;
if(!valid3){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/inclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exclusive_ns !== undefined){
let data6 = data.exclusive_ns;
const _errs12 = errors;
if(errors === _errs12){
if(Array.isArray(data6)){
var valid4 = true;
const len3 = data6.length;
for(let i3=0; i3<len3; i3++){
let data7 = data6[i3];
const _errs14 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate48.errors = [{instancePath:instancePath+"/exclusive_ns/" + i3,keyword:"type"}];
return false;
}
if(errors === _errs14){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate48.errors = [{instancePath:instancePath+"/exclusive_ns/" + i3,keyword:"minimum"}];
return false;
}
}
}
var valid4 = _errs14 === errors;
if(!valid4){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/exclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.count !== undefined){
let data8 = data.count;
const _errs16 = errors;
if(errors === _errs16){
if(Array.isArray(data8)){
var valid5 = true;
const len4 = data8.length;
for(let i4=0; i4<len4; i4++){
let data9 = data8[i4];
const _errs18 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate48.errors = [{instancePath:instancePath+"/count/" + i4,keyword:"type"}];
return false;
}
if(errors === _errs18){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate48.errors = [{instancePath:instancePath+"/count/" + i4,keyword:"minimum"}];
return false;
}
}
}
var valid5 = _errs18 === errors;
if(!valid5){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/count",keyword:"type"}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exemplars !== undefined){
let data10 = data.exemplars;
const _errs20 = errors;
if(errors === _errs20){
if(Array.isArray(data10)){
var valid6 = true;
const len5 = data10.length;
for(let i5=0; i5<len5; i5++){
let data11 = data10[i5];
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data11)){
var valid7 = true;
const len6 = data11.length;
for(let i6=0; i6<len6; i6++){
const _errs24 = errors;
if(typeof data11[i6] !== "string"){
validate48.errors = [{instancePath:instancePath+"/exemplars/" + i5+"/" + i6,keyword:"type"}];
return false;
}
var valid7 = _errs24 === errors;
if(!valid7){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/exemplars/" + i5,keyword:"type"}];
return false;
}
}
var valid6 = _errs22 === errors;
if(!valid6){
break;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/exemplars",keyword:"type"}];
return false;
}
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
else {
validate48.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate48.errors = vErrors;
return errors === 0;
}
function validate52(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.service === undefined) && (missing0 = "service")) || ((data.operation === undefined) && (missing0 = "operation"))) || ((data.p50_exclusive_ns === undefined) && (missing0 = "p50_exclusive_ns"))) || ((data.p95_exclusive_ns === undefined) && (missing0 = "p95_exclusive_ns"))) || ((data.share === undefined) && (missing0 = "share"))) || ((data.traces === undefined) && (missing0 = "traces"))) || ((data.saving_ns === undefined) && (missing0 = "saving_ns"))) || ((data.drag_ns === undefined) && (missing0 = "drag_ns"))) || ((data.slack_ns === undefined) && (missing0 = "slack_ns"))) || ((data.error_share === undefined) && (missing0 = "error_share"))){
validate52.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.service !== undefined){
const _errs1 = errors;
if(typeof data.service !== "string"){
validate52.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs3 = errors;
if(typeof data.operation !== "string"){
validate52.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.p50_exclusive_ns !== undefined){
let data2 = data.p50_exclusive_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate52.errors = [{instancePath:instancePath+"/p50_exclusive_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate52.errors = [{instancePath:instancePath+"/p50_exclusive_ns",keyword:"minimum"}];
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
if(data.p95_exclusive_ns !== undefined){
let data3 = data.p95_exclusive_ns;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate52.errors = [{instancePath:instancePath+"/p95_exclusive_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate52.errors = [{instancePath:instancePath+"/p95_exclusive_ns",keyword:"minimum"}];
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
if(data.share !== undefined){
let data4 = data.share;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate52.errors = [{instancePath:instancePath+"/share",keyword:"minimum"}];
return false;
}
}
else {
validate52.errors = [{instancePath:instancePath+"/share",keyword:"type"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.traces !== undefined){
let data5 = data.traces;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate52.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate52.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.saving_ns !== undefined){
let data6 = data.saving_ns;
const _errs13 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate52.errors = [{instancePath:instancePath+"/saving_ns",keyword:"type"}];
return false;
}
if(errors === _errs13){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate52.errors = [{instancePath:instancePath+"/saving_ns",keyword:"minimum"}];
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
if(data.drag_ns !== undefined){
let data7 = data.drag_ns;
const _errs15 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate52.errors = [{instancePath:instancePath+"/drag_ns",keyword:"type"}];
return false;
}
if(errors === _errs15){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate52.errors = [{instancePath:instancePath+"/drag_ns",keyword:"minimum"}];
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
if(data.slack_ns !== undefined){
let data8 = data.slack_ns;
const _errs17 = errors;
if(!((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8)))){
validate52.errors = [{instancePath:instancePath+"/slack_ns",keyword:"type"}];
return false;
}
if(errors === _errs17){
if(typeof data8 == "number"){
if(data8 < 0 || isNaN(data8)){
validate52.errors = [{instancePath:instancePath+"/slack_ns",keyword:"minimum"}];
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
if(data.error_share !== undefined){
let data9 = data.error_share;
const _errs19 = errors;
if(errors === _errs19){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate52.errors = [{instancePath:instancePath+"/error_share",keyword:"minimum"}];
return false;
}
}
else {
validate52.errors = [{instancePath:instancePath+"/error_share",keyword:"type"}];
return false;
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
}
}
}
}
}
else {
validate52.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate52.errors = vErrors;
return errors === 0;
}
function validate54(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.path === undefined) && (missing0 = "path")) || ((data.count === undefined) && (missing0 = "count"))) || ((data.exemplar === undefined) && (missing0 = "exemplar"))){
validate54.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.path !== undefined){
let data0 = data.path;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate49(data0[i0], {instancePath:instancePath+"/path/" + i0}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate54.errors = [{instancePath:instancePath+"/path",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.count !== undefined){
let data2 = data.count;
const _errs4 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate54.errors = [{instancePath:instancePath+"/count",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate54.errors = [{instancePath:instancePath+"/count",keyword:"minimum"}];
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
if(data.exemplar !== undefined){
const _errs6 = errors;
if(typeof data.exemplar !== "string"){
validate54.errors = [{instancePath:instancePath+"/exemplar",keyword:"type"}];
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
validate54.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate54.errors = vErrors;
return errors === 0;
}
function validate57(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.trace_id === undefined) && (missing0 = "trace_id")) || ((data.start_ns === undefined) && (missing0 = "start_ns"))) || ((data.duration_ns === undefined) && (missing0 = "duration_ns"))) || ((data.kind === undefined) && (missing0 = "kind"))) || ((data.score === undefined) && (missing0 = "score"))) || ((data.chain === undefined) && (missing0 = "chain"))){
validate57.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.trace_id !== undefined){
const _errs1 = errors;
if(typeof data.trace_id !== "string"){
validate57.errors = [{instancePath:instancePath+"/trace_id",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.start_ns !== undefined){
let data1 = data.start_ns;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate57.errors = [{instancePath:instancePath+"/start_ns",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate57.errors = [{instancePath:instancePath+"/start_ns",keyword:"minimum"}];
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
if(data.duration_ns !== undefined){
let data2 = data.duration_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate57.errors = [{instancePath:instancePath+"/duration_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate57.errors = [{instancePath:instancePath+"/duration_ns",keyword:"minimum"}];
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
if(data.kind !== undefined){
let data3 = data.kind;
const _errs7 = errors;
if(typeof data3 !== "string"){
validate57.errors = [{instancePath:instancePath+"/kind",keyword:"type"}];
return false;
}
if(!((((((data3 === "unseen") || (data3 === "missing")) || (data3 === "failed")) || (data3 === "repeated")) || (data3 === "reordered")) || (data3 === "improbable"))){
validate57.errors = [{instancePath:instancePath+"/kind",keyword:"enum"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.score !== undefined){
const _errs9 = errors;
if(!(typeof data.score == "number")){
validate57.errors = [{instancePath:instancePath+"/score",keyword:"type"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chain !== undefined){
let data5 = data.chain;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data5)){
var valid1 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
const _errs13 = errors;
if(!(validate49(data5[i0], {instancePath:instancePath+"/chain/" + i0}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid1 = _errs13 === errors;
if(!valid1){
break;
}
}
}
else {
validate57.errors = [{instancePath:instancePath+"/chain",keyword:"type"}];
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
validate57.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate57.errors = vErrors;
return errors === 0;
}
function validate61(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.p50_ns === undefined) && (missing0 = "p50_ns")) || ((data.p95_ns === undefined) && (missing0 = "p95_ns"))) || ((data.p99_ns === undefined) && (missing0 = "p99_ns"))){
validate61.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.p50_ns !== undefined){
let data0 = data.p50_ns;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate61.errors = [{instancePath:instancePath+"/p50_ns",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate61.errors = [{instancePath:instancePath+"/p50_ns",keyword:"minimum"}];
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
if(data.p95_ns !== undefined){
let data1 = data.p95_ns;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate61.errors = [{instancePath:instancePath+"/p95_ns",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate61.errors = [{instancePath:instancePath+"/p95_ns",keyword:"minimum"}];
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
if(data.p99_ns !== undefined){
let data2 = data.p99_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate61.errors = [{instancePath:instancePath+"/p99_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate61.errors = [{instancePath:instancePath+"/p99_ns",keyword:"minimum"}];
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
validate61.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate61.errors = vErrors;
return errors === 0;
}
function validate60(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.service === undefined) && (missing0 = "service")) || ((data.operation === undefined) && (missing0 = "operation"))) || ((data.less_ns === undefined) && (missing0 = "less_ns"))) || ((data.quantiles === undefined) && (missing0 = "quantiles"))){
validate60.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.service !== undefined){
const _errs1 = errors;
if(typeof data.service !== "string"){
validate60.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs3 = errors;
if(typeof data.operation !== "string"){
validate60.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.less_ns !== undefined){
let data2 = data.less_ns;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate60.errors = [{instancePath:instancePath+"/less_ns",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate60.errors = [{instancePath:instancePath+"/less_ns",keyword:"minimum"}];
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
if(data.quantiles !== undefined){
const _errs7 = errors;
if(!(validate61(data.quantiles, {instancePath:instancePath+"/quantiles"}))){
vErrors = vErrors === null ? validate61.errors : vErrors.concat(validate61.errors);
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
validate60.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate60.errors = vErrors;
return errors === 0;
}
function validate43(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((data.traces === undefined) && (missing0 = "traces")) || ((data.omitted === undefined) && (missing0 = "omitted"))) || ((data.skewed === undefined) && (missing0 = "skewed"))) || ((data.dropped === undefined) && (missing0 = "dropped"))) || ((data.duration === undefined) && (missing0 = "duration"))) || ((data.tree === undefined) && (missing0 = "tree"))) || ((data.ranking === undefined) && (missing0 = "ranking"))) || ((data.errors === undefined) && (missing0 = "errors"))) || ((data.anomalies === undefined) && (missing0 = "anomalies"))) || ((data.usual === undefined) && (missing0 = "usual"))) || ((data.projection === undefined) && (missing0 = "projection"))){
validate43.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.traces !== undefined){
let data0 = data.traces;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate43.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate43.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.omitted !== undefined){
let data1 = data.omitted;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate43.errors = [{instancePath:instancePath+"/omitted",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate43.errors = [{instancePath:instancePath+"/omitted",keyword:"minimum"}];
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
if(data.skewed !== undefined){
let data2 = data.skewed;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate43.errors = [{instancePath:instancePath+"/skewed",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate43.errors = [{instancePath:instancePath+"/skewed",keyword:"minimum"}];
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
validate43.errors = [{instancePath:instancePath+"/dropped",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate43.errors = [{instancePath:instancePath+"/dropped",keyword:"minimum"}];
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
if(data.duration !== undefined){
const _errs9 = errors;
if(!(validate44(data.duration, {instancePath:instancePath+"/duration"}))){
vErrors = vErrors === null ? validate44.errors : vErrors.concat(validate44.errors);
errors = vErrors.length;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tree !== undefined){
const _errs10 = errors;
if(!(validate48(data.tree, {instancePath:instancePath+"/tree"}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ranking !== undefined){
let data6 = data.ranking;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data6)){
var valid1 = true;
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
const _errs13 = errors;
if(!(validate52(data6[i0], {instancePath:instancePath+"/ranking/" + i0}))){
vErrors = vErrors === null ? validate52.errors : vErrors.concat(validate52.errors);
errors = vErrors.length;
}
var valid1 = _errs13 === errors;
if(!valid1){
break;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/ranking",keyword:"type"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.errors !== undefined){
let data8 = data.errors;
const _errs14 = errors;
if(errors === _errs14){
if(Array.isArray(data8)){
var valid2 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
const _errs16 = errors;
if(!(validate54(data8[i1], {instancePath:instancePath+"/errors/" + i1}))){
vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
errors = vErrors.length;
}
var valid2 = _errs16 === errors;
if(!valid2){
break;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/errors",keyword:"type"}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.anomalies !== undefined){
let data10 = data.anomalies;
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data10)){
var valid3 = true;
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
const _errs19 = errors;
if(!(validate57(data10[i2], {instancePath:instancePath+"/anomalies/" + i2}))){
vErrors = vErrors === null ? validate57.errors : vErrors.concat(validate57.errors);
errors = vErrors.length;
}
var valid3 = _errs19 === errors;
if(!valid3){
break;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/anomalies",keyword:"type"}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.usual !== undefined){
let data12 = data.usual;
const _errs20 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate43.errors = [{instancePath:instancePath+"/usual",keyword:"type"}];
return false;
}
if(errors === _errs20){
if(typeof data12 == "number"){
if(data12 < 0 || isNaN(data12)){
validate43.errors = [{instancePath:instancePath+"/usual",keyword:"minimum"}];
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
if(data.projection !== undefined){
let data13 = data.projection;
const _errs22 = errors;
const _errs23 = errors;
let valid4 = false;
const _errs24 = errors;
if(!(validate60(data13, {instancePath:instancePath+"/projection"}))){
vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
errors = vErrors.length;
}
var _valid0 = _errs24 === errors;
valid4 = valid4 || _valid0;
if(!valid4){
const _errs25 = errors;
if(data13 !== null){
const err0 = {instancePath:instancePath+"/projection",keyword:"type"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs25 === errors;
valid4 = valid4 || _valid0;
}
if(!valid4){
const err1 = {instancePath:instancePath+"/projection",keyword:"anyOf"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs23;
if(vErrors !== null){
if(_errs23){
vErrors.length = _errs23;
}
else {
vErrors = null;
}
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
}
else {
validate43.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate43.errors = vErrors;
return errors === 0;
}
export const isTraceDifference = validate64;
function validate65(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.traces === undefined) && (missing0 = "traces")) || ((data.quantiles === undefined) && (missing0 = "quantiles"))){
validate65.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.traces !== undefined){
let data0 = data.traces;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate65.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate65.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.quantiles !== undefined){
const _errs3 = errors;
if(!(validate61(data.quantiles, {instancePath:instancePath+"/quantiles"}))){
vErrors = vErrors === null ? validate61.errors : vErrors.concat(validate61.errors);
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
validate65.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate65.errors = vErrors;
return errors === 0;
}
function validate69(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.name === undefined) && (missing0 = "name")) || ((data.parent === undefined) && (missing0 = "parent"))) || ((data.base_inclusive_ns === undefined) && (missing0 = "base_inclusive_ns"))) || ((data.other_inclusive_ns === undefined) && (missing0 = "other_inclusive_ns"))) || ((data.base_exclusive_ns === undefined) && (missing0 = "base_exclusive_ns"))) || ((data.other_exclusive_ns === undefined) && (missing0 = "other_exclusive_ns"))) || ((data.exemplars === undefined) && (missing0 = "exemplars"))){
validate69.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
let data0 = data.name;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate49(data0[i0], {instancePath:instancePath+"/name/" + i0}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/name",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parent !== undefined){
let data2 = data.parent;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
let data3 = data2[i1];
const _errs6 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate69.errors = [{instancePath:instancePath+"/parent/" + i1,keyword:"type"}];
return false;
}
if(errors === _errs6){
if(typeof data3 == "number"){
if(data3 < -1 || isNaN(data3)){
validate69.errors = [{instancePath:instancePath+"/parent/" + i1,keyword:"minimum"}];
return false;
}
}
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/parent",keyword:"type"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.base_inclusive_ns !== undefined){
let data4 = data.base_inclusive_ns;
const _errs8 = errors;
if(errors === _errs8){
if(Array.isArray(data4)){
var valid3 = true;
const len2 = data4.length;
for(let i2=0; i2<len2; i2++){
let data5 = data4[i2];
const _errs10 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate69.errors = [{instancePath:instancePath+"/base_inclusive_ns/" + i2,keyword:"type"}];
return false;
}
if(errors === _errs10){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate69.errors = [{instancePath:instancePath+"/base_inclusive_ns/" + i2,keyword:"minimum"}];
return false;
}
}
}
var valid3 = _errs10 === errors;
if(!valid3){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/base_inclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.other_inclusive_ns !== undefined){
let data6 = data.other_inclusive_ns;
const _errs12 = errors;
if(errors === _errs12){
if(Array.isArray(data6)){
var valid4 = true;
const len3 = data6.length;
for(let i3=0; i3<len3; i3++){
let data7 = data6[i3];
const _errs14 = errors;
if(!((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7)))){
validate69.errors = [{instancePath:instancePath+"/other_inclusive_ns/" + i3,keyword:"type"}];
return false;
}
if(errors === _errs14){
if(typeof data7 == "number"){
if(data7 < 0 || isNaN(data7)){
validate69.errors = [{instancePath:instancePath+"/other_inclusive_ns/" + i3,keyword:"minimum"}];
return false;
}
}
}
var valid4 = _errs14 === errors;
if(!valid4){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/other_inclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.base_exclusive_ns !== undefined){
let data8 = data.base_exclusive_ns;
const _errs16 = errors;
if(errors === _errs16){
if(Array.isArray(data8)){
var valid5 = true;
const len4 = data8.length;
for(let i4=0; i4<len4; i4++){
let data9 = data8[i4];
const _errs18 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate69.errors = [{instancePath:instancePath+"/base_exclusive_ns/" + i4,keyword:"type"}];
return false;
}
if(errors === _errs18){
if(typeof data9 == "number"){
if(data9 < 0 || isNaN(data9)){
validate69.errors = [{instancePath:instancePath+"/base_exclusive_ns/" + i4,keyword:"minimum"}];
return false;
}
}
}
var valid5 = _errs18 === errors;
if(!valid5){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/base_exclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.other_exclusive_ns !== undefined){
let data10 = data.other_exclusive_ns;
const _errs20 = errors;
if(errors === _errs20){
if(Array.isArray(data10)){
var valid6 = true;
const len5 = data10.length;
for(let i5=0; i5<len5; i5++){
let data11 = data10[i5];
const _errs22 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate69.errors = [{instancePath:instancePath+"/other_exclusive_ns/" + i5,keyword:"type"}];
return false;
}
if(errors === _errs22){
if(typeof data11 == "number"){
if(data11 < 0 || isNaN(data11)){
validate69.errors = [{instancePath:instancePath+"/other_exclusive_ns/" + i5,keyword:"minimum"}];
return false;
}
}
}
var valid6 = _errs22 === errors;
if(!valid6){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/other_exclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exemplars !== undefined){
let data12 = data.exemplars;
const _errs24 = errors;
if(errors === _errs24){
if(Array.isArray(data12)){
var valid7 = true;
const len6 = data12.length;
for(let i6=0; i6<len6; i6++){
let data13 = data12[i6];
const _errs26 = errors;
if(errors === _errs26){
if(Array.isArray(data13)){
var valid8 = true;
const len7 = data13.length;
for(let i7=0; i7<len7; i7++){
const _errs28 = errors;
if(typeof data13[i7] !== "string"){
validate69.errors = [{instancePath:instancePath+"/exemplars/" + i6+"/" + i7,keyword:"type"}];
return false;
}
var valid8 = _errs28 === errors;
if(!valid8){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/exemplars/" + i6,keyword:"type"}];
return false;
}
}
var valid7 = _errs26 === errors;
if(!valid7){
break;
}
}
}
else {
validate69.errors = [{instancePath:instancePath+"/exemplars",keyword:"type"}];
return false;
}
}
var valid0 = _errs24 === errors;
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
validate69.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate69.errors = vErrors;
return errors === 0;
}
function validate64(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.base === undefined) && (missing0 = "base")) || ((data.other === undefined) && (missing0 = "other"))) || ((data.tree === undefined) && (missing0 = "tree"))){
validate64.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.base !== undefined){
const _errs1 = errors;
if(!(validate65(data.base, {instancePath:instancePath+"/base"}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.other !== undefined){
const _errs2 = errors;
if(!(validate65(data.other, {instancePath:instancePath+"/other"}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tree !== undefined){
const _errs3 = errors;
if(!(validate69(data.tree, {instancePath:instancePath+"/tree"}))){
vErrors = vErrors === null ? validate69.errors : vErrors.concat(validate69.errors);
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
}
else {
validate64.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate64.errors = vErrors;
return errors === 0;
}
export const isTraceHeat = validate72;
function validate75(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.chain === undefined) && (missing0 = "chain")) || ((data.ns === undefined) && (missing0 = "ns"))){
validate75.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.chain !== undefined){
let data0 = data.chain;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate49(data0[i0], {instancePath:instancePath+"/chain/" + i0}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate75.errors = [{instancePath:instancePath+"/chain",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ns !== undefined){
let data2 = data.ns;
const _errs4 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate75.errors = [{instancePath:instancePath+"/ns",keyword:"type"}];
return false;
}
if(errors === _errs4){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate75.errors = [{instancePath:instancePath+"/ns",keyword:"minimum"}];
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
validate75.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate75.errors = vErrors;
return errors === 0;
}
function validate72(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.operations === undefined) && (missing0 = "operations")) || ((data.traces === undefined) && (missing0 = "traces"))) || ((data.exclusive_ns === undefined) && (missing0 = "exclusive_ns"))) || ((data.chains === undefined) && (missing0 = "chains"))){
validate72.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.operations !== undefined){
let data0 = data.operations;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
const _errs3 = errors;
if(!(validate49(data0[i0], {instancePath:instancePath+"/operations/" + i0}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/operations",keyword:"type"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.traces !== undefined){
let data2 = data.traces;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
var valid2 = true;
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
const _errs6 = errors;
if(!(validate28(data2[i1], {instancePath:instancePath+"/traces/" + i1}))){
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
errors = vErrors.length;
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exclusive_ns !== undefined){
let data4 = data.exclusive_ns;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data4)){
var valid3 = true;
const len2 = data4.length;
for(let i2=0; i2<len2; i2++){
let data5 = data4[i2];
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data5)){
var valid4 = true;
const len3 = data5.length;
for(let i3=0; i3<len3; i3++){
let data6 = data5[i3];
const _errs11 = errors;
if(!((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6)))){
validate72.errors = [{instancePath:instancePath+"/exclusive_ns/" + i2+"/" + i3,keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data6 == "number"){
if(data6 < 0 || isNaN(data6)){
validate72.errors = [{instancePath:instancePath+"/exclusive_ns/" + i2+"/" + i3,keyword:"minimum"}];
return false;
}
}
}
var valid4 = _errs11 === errors;
if(!valid4){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/exclusive_ns/" + i2,keyword:"type"}];
return false;
}
}
var valid3 = _errs9 === errors;
if(!valid3){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/exclusive_ns",keyword:"type"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chains !== undefined){
let data7 = data.chains;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data7)){
var valid5 = true;
const len4 = data7.length;
for(let i4=0; i4<len4; i4++){
let data8 = data7[i4];
const _errs15 = errors;
if(errors === _errs15){
if(Array.isArray(data8)){
var valid6 = true;
const len5 = data8.length;
for(let i5=0; i5<len5; i5++){
let data9 = data8[i5];
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data9)){
var valid7 = true;
const len6 = data9.length;
for(let i6=0; i6<len6; i6++){
const _errs19 = errors;
if(!(validate75(data9[i6], {instancePath:instancePath+"/chains/" + i4+"/" + i5+"/" + i6}))){
vErrors = vErrors === null ? validate75.errors : vErrors.concat(validate75.errors);
errors = vErrors.length;
}
var valid7 = _errs19 === errors;
if(!valid7){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/chains/" + i4+"/" + i5,keyword:"type"}];
return false;
}
}
var valid6 = _errs17 === errors;
if(!valid6){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/chains/" + i4,keyword:"type"}];
return false;
}
}
var valid5 = _errs15 === errors;
if(!valid5){
break;
}
}
}
else {
validate72.errors = [{instancePath:instancePath+"/chains",keyword:"type"}];
return false;
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
else {
validate72.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate72.errors = vErrors;
return errors === 0;
}
export const isTraceOperations = validate78;
function validate79(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.service === undefined) && (missing0 = "service")) || ((data.operation === undefined) && (missing0 = "operation"))) || ((data.mean_share === undefined) && (missing0 = "mean_share"))) || ((data.exclusive_ns === undefined) && (missing0 = "exclusive_ns"))) || ((data.endpoints === undefined) && (missing0 = "endpoints"))) || ((data.traces === undefined) && (missing0 = "traces"))){
validate79.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.service !== undefined){
const _errs1 = errors;
if(typeof data.service !== "string"){
validate79.errors = [{instancePath:instancePath+"/service",keyword:"type"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.operation !== undefined){
const _errs3 = errors;
if(typeof data.operation !== "string"){
validate79.errors = [{instancePath:instancePath+"/operation",keyword:"type"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mean_share !== undefined){
let data2 = data.mean_share;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate79.errors = [{instancePath:instancePath+"/mean_share",keyword:"minimum"}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/mean_share",keyword:"type"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.exclusive_ns !== undefined){
let data3 = data.exclusive_ns;
const _errs7 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate79.errors = [{instancePath:instancePath+"/exclusive_ns",keyword:"type"}];
return false;
}
if(errors === _errs7){
if(typeof data3 == "number"){
if(data3 < 0 || isNaN(data3)){
validate79.errors = [{instancePath:instancePath+"/exclusive_ns",keyword:"minimum"}];
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
if(data.endpoints !== undefined){
let data4 = data.endpoints;
const _errs9 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate79.errors = [{instancePath:instancePath+"/endpoints",keyword:"type"}];
return false;
}
if(errors === _errs9){
if(typeof data4 == "number"){
if(data4 < 0 || isNaN(data4)){
validate79.errors = [{instancePath:instancePath+"/endpoints",keyword:"minimum"}];
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
if(data.traces !== undefined){
let data5 = data.traces;
const _errs11 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate79.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs11){
if(typeof data5 == "number"){
if(data5 < 0 || isNaN(data5)){
validate79.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
validate79.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate79.errors = vErrors;
return errors === 0;
}
function validate78(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.endpoints === undefined) && (missing0 = "endpoints")) || ((data.traces === undefined) && (missing0 = "traces"))) || ((data.omitted === undefined) && (missing0 = "omitted"))) || ((data.operations === undefined) && (missing0 = "operations"))){
validate78.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.endpoints !== undefined){
let data0 = data.endpoints;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate78.errors = [{instancePath:instancePath+"/endpoints",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate78.errors = [{instancePath:instancePath+"/endpoints",keyword:"minimum"}];
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
if(data.traces !== undefined){
let data1 = data.traces;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate78.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate78.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.omitted !== undefined){
let data2 = data.omitted;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate78.errors = [{instancePath:instancePath+"/omitted",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate78.errors = [{instancePath:instancePath+"/omitted",keyword:"minimum"}];
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
if(data.operations !== undefined){
let data3 = data.operations;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
const _errs9 = errors;
if(!(validate79(data3[i0], {instancePath:instancePath+"/operations/" + i0}))){
vErrors = vErrors === null ? validate79.errors : vErrors.concat(validate79.errors);
errors = vErrors.length;
}
var valid1 = _errs9 === errors;
if(!valid1){
break;
}
}
}
else {
validate78.errors = [{instancePath:instancePath+"/operations",keyword:"type"}];
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
validate78.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate78.errors = vErrors;
return errors === 0;
}
export const isTracesImported = validate81;
function validate81(data, {instancePath=""}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.traces === undefined) && (missing0 = "traces")) || ((data.spans === undefined) && (missing0 = "spans"))) || ((data.rejected === undefined) && (missing0 = "rejected"))) || ((data.reasons === undefined) && (missing0 = "reasons"))){
validate81.errors = [{instancePath,keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.traces !== undefined){
let data0 = data.traces;
const _errs1 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate81.errors = [{instancePath:instancePath+"/traces",keyword:"type"}];
return false;
}
if(errors === _errs1){
if(typeof data0 == "number"){
if(data0 < 0 || isNaN(data0)){
validate81.errors = [{instancePath:instancePath+"/traces",keyword:"minimum"}];
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
if(data.spans !== undefined){
let data1 = data.spans;
const _errs3 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate81.errors = [{instancePath:instancePath+"/spans",keyword:"type"}];
return false;
}
if(errors === _errs3){
if(typeof data1 == "number"){
if(data1 < 0 || isNaN(data1)){
validate81.errors = [{instancePath:instancePath+"/spans",keyword:"minimum"}];
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
if(data.rejected !== undefined){
let data2 = data.rejected;
const _errs5 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate81.errors = [{instancePath:instancePath+"/rejected",keyword:"type"}];
return false;
}
if(errors === _errs5){
if(typeof data2 == "number"){
if(data2 < 0 || isNaN(data2)){
validate81.errors = [{instancePath:instancePath+"/rejected",keyword:"minimum"}];
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
if(data.reasons !== undefined){
let data3 = data.reasons;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
const _errs9 = errors;
if(typeof data3[i0] !== "string"){
validate81.errors = [{instancePath:instancePath+"/reasons/" + i0,keyword:"type"}];
return false;
}
var valid1 = _errs9 === errors;
if(!valid1){
break;
}
}
}
else {
validate81.errors = [{instancePath:instancePath+"/reasons",keyword:"type"}];
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
validate81.errors = [{instancePath,keyword:"type"}];
return false;
}
}
validate81.errors = vErrors;
return errors === 0;
}
