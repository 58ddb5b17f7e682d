# Five processes append to a file under flock(2), 60 ms each; the twin's each have a file:
# ledger.pl fault|healthy.
use strict;
use warnings;
use Fcntl qw(:flock);
use Time::HiRes qw(sleep);

my $fault = $ARGV[0] eq 'fault';
for my $number (1 .. 5) {
  next if fork;
  $0 = 'ledger-writer';
  open(my $file, '>>', $fault ? 'ledger' : "ledger-$number") or die;
  while (1) {
    flock($file, LOCK_EX) or die;
    syswrite($file, "sale\n");
    sleep 0.06;
    flock($file, LOCK_UN) or die;
    sleep 0.04;
  }
}
$| = 1;
print "ready\n";
sleep 3600 while 1;
