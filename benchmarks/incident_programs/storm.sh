#!/bin/sh
# A script that starts a program for each sum, or now and then: storm.sh fault|healthy.
echo ready
sum=0
while :; do
  sum=$(expr $sum + 1)
  [ "$1" = fault ] || sleep 1
done
