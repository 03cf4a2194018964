#!/bin/sh
{ cat; echo; } >>seen
echo '<system-reminder>be careful</system-reminder>'
