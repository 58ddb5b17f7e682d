<?php
// A page that waits 0.3 s, as for a slow service.
usleep(300000);
echo "done";
