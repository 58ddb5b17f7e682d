package tidscope.agent;

/** The steered pool, or nothing. */
interface Steerable {
  /** Name of the knob in the hello. */
  String knob();

  int wanted();

  int size();

  void resize(int size);

  long ops();

  long queueWaitNs();

  long queueWaits();

  /** Stand-in for an agent that only reports pools; its only size is 1. */
  Steerable NOTHING =
      new Steerable() {
        @Override
        public String knob() {
          return "none";
        }

        @Override
        public int wanted() {
          return 1;
        }

        @Override
        public int size() {
          return 1;
        }

        @Override
        public void resize(int size) {
          // 1 is the only size within the bounds.
        }

        @Override
        public long ops() {
          return Pools.finished();
        }

        @Override
        public long queueWaitNs() {
          return 0;
        }

        @Override
        public long queueWaits() {
          return 0;
        }
      };
}
