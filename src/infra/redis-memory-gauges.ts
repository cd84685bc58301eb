import { Gauge, type Registry } from "prom-client";

/** What the metrics show of Redis's memory. In a cluster, that of the fullest master; NaN if Redis does not tell. */
export class RedisMemoryGauges {
  readonly used: Gauge;
  readonly max: Gauge;
  readonly nearlyFull: Gauge;
  readonly policyUnsafe: Gauge;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string) => new Gauge({ registers: [registry], name, help, aggregator: "max" });
    this.used = gauge(
      "redis_memory_used_bytes",
      "Memory that Redis uses (used_memory). In a cluster, that of the fullest master.",
    );
    this.max = gauge(
      "redis_memory_max_bytes",
      "Memory that Redis may use (maxmemory). 0 means that there is no limit.",
    );
    this.nearlyFull = gauge(
      "redis_memory_nearly_full",
      "1 if Redis has used more than 90 % of maxmemory, and will refuse writes when it is full, else 0.",
    );
    this.policyUnsafe = gauge(
      "redis_maxmemory_policy_unsafe",
      "1 if the maxmemory-policy is not noeviction, so that a full Redis evicts limits, else 0. NaN if Redis does not tell.",
    );
  }
}
