import { formatGain, formatValue } from "../../stream/format";
import type { DecisionView } from "../../stream/steerView";
import type { ProofState } from "../../wire/generated/models";
import { type GainAt, gainsOf, LEFT, proofBlocks, RIGHT, scaleOf, TOP, WIDTH } from "./trialScale";
import styles from "./trials.module.css";

const BLOCKS_BOTTOM = 124;
const GAIN_TOP = 150;
const GAIN_BOTTOM = 216;
const HEIGHT = 240;
/**
 * Maximum percentage shown. An interval of few pairs may be far wider; the gains themselves always
 * fit.
 */
const MAX_PERCENT = 100;

interface ProofPictureProps {
  readonly proof: ProofState;
  readonly decisions: readonly DecisionView[];
}

/** Blocks with and without the policy on a time axis, and the gain's narrowing interval. */
export function ProofPicture({ proof, decisions }: ProofPictureProps) {
  const blocks = proofBlocks(decisions);
  const gains = gainsOf(decisions);
  const all = blocks.flatMap(({ intervals }) => intervals).filter(({ rate }) => rate >= 0);
  const from = all[0]?.start_s ?? 0;
  const to = all.at(-1)?.t_s ?? from + 1;
  const most = 1.1 * Math.max(0, ...all.map(({ rate }) => rate)) || 1;
  const rates = scaleOf([from, to], [0, most], [TOP, BLOCKS_BOTTOM]);
  const reach = reachOf(gains);
  const gain = scaleOf([from, to], [-reach, reach], [GAIN_TOP, GAIN_BOTTOM]);
  return (
    <div className={styles.picture} data-proof={proof.verdict}>
      {all.length === 0 ? null : (
        <svg
          className={styles.svg}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label={`Blocks of the proof. ${proof.text}`}
        >
          {rates.ticks.map((value) => (
            <g key={value}>
              <Line
                kind={styles.grid}
                from={[LEFT, rates.y(value)]}
                to={[WIDTH - RIGHT, rates.y(value)]}
              />
              <text className={styles.tick} x={LEFT - 5} y={rates.y(value) + 3} textAnchor="end">
                {formatValue(value, "count")}
              </text>
            </g>
          ))}
          <text className={styles.tick} x={2} y={TOP - 4}>
            ops/s
          </text>
          {blocks.map(({ withPolicy, intervals, mean }) => (
            <g key={intervals[0]?.id} data-block={withPolicy ? "with" : "without"}>
              {intervals.map(({ id, start_s, t_s, rate, counted }, at) => (
                <circle
                  key={id}
                  className={withPolicy ? styles.with : styles.without}
                  data-left-out={at === 0 || !counted}
                  cx={rates.x((start_s + t_s) / 2)}
                  cy={rates.y(rate)}
                  r={2}
                />
              ))}
              {Number.isNaN(mean) ? null : (
                <Line
                  kind={withPolicy ? styles.meanWith : styles.meanWithout}
                  from={[rates.x(intervals[0]?.start_s ?? from), rates.y(mean)]}
                  to={[rates.x(intervals.at(-1)?.t_s ?? to), rates.y(mean)]}
                />
              )}
            </g>
          ))}
          <text className={styles.tick} x={2} y={GAIN_TOP - 6}>
            gain, percent
          </text>
          {[-reach, 0, reach].map((value) => (
            <g key={value}>
              <Line
                kind={styles.grid}
                from={[LEFT, gain.y(value)]}
                to={[WIDTH - RIGHT, gain.y(value)]}
              />
              <text className={styles.tick} x={LEFT - 5} y={gain.y(value) + 3} textAnchor="end">
                {value > 0 ? `+${value}` : value}
              </text>
            </g>
          ))}
          {gains.map(({ t_s, percent, low, high }) => (
            <g key={t_s} data-gain={percent.toFixed(1)}>
              <title>{formatGain(percent, low, high)}</title>
              {low === null && high === null ? null : (
                <Line
                  kind={styles.interval}
                  from={[gain.x(t_s), gain.y(low ?? -reach)]}
                  to={[gain.x(t_s), gain.y(high ?? reach)]}
                />
              )}
              <circle className={styles.point} cx={gain.x(t_s)} cy={gain.y(percent)} r={3} />
            </g>
          ))}
          <text className={styles.tick} x={LEFT} y={HEIGHT - 6}>
            0 s
          </text>
          <text className={styles.tick} x={WIDTH - RIGHT} y={HEIGHT - 6} textAnchor="end">
            {Math.round(to - from)} s
          </text>
        </svg>
      )}
      <p className={styles.legend}>
        <span className={styles.legendWith}>● with the policy</span>
        <span className={styles.legendWithout}>● without it</span>
      </p>
      <p>{proof.text}</p>
      <ProofFigures proof={proof} />
      {proof.p99 == null && proof.p99_missing != null ? (
        <p className={styles.muted}>No response times: {proof.p99_missing}</p>
      ) : null}
    </div>
  );
}

/** Effects of the policy, each with its interval; nothing before the first pair. */
function ProofFigures({ proof }: Pick<ProofPictureProps, "proof">) {
  const { gain_percent, low_percent, high_percent, p99 } = proof;
  if (gain_percent === null) return null;
  return (
    <dl className={styles.figures} aria-label="With the policy">
      <div data-figure="throughput">
        <dt>Throughput</dt>
        <dd>{formatGain(gain_percent, low_percent, high_percent)}</dd>
      </div>
      {p99 == null ? null : (
        <div data-figure="p99">
          <dt>Response time, p99</dt>
          <dd>{formatGain(p99.percent, p99.low_percent, p99.high_percent)}</dd>
        </div>
      )}
    </dl>
  );
}

interface LineProps {
  readonly kind: string | undefined;
  readonly from: readonly [number, number];
  readonly to: readonly [number, number];
}

function Line({ kind, from, to }: LineProps) {
  return <line className={kind} x1={from[0]} y1={from[1]} x2={to[0]} y2={to[1]} />;
}

function reachOf(gains: readonly GainAt[]): number {
  const percents = gains.map(({ percent }) => Math.abs(percent));
  const ends = gains.flatMap(({ low, high }) => [Math.abs(low ?? 0), Math.abs(high ?? 0)]);
  const wanted = Math.min(MAX_PERCENT, 1.1 * Math.max(0, ...ends));
  return Math.max(2, Math.ceil(Math.max(wanted, ...percents.map((each) => 1.1 * each))));
}
