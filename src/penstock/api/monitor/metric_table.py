"""Every metric that `/metrics` may show: type, unit and labels. `docs/metrics.md` is made of it."""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    kind: str
    unit: str
    labels: tuple[str, ...]
    about: str


_WORKER = ("worker",)
_STAGE = ("worker", "pipeline", "stage")
_CALL = ("worker", "provider", "domain")

METRICS: dict[str, Metric] = {
    "penstock_health_status": Metric("gauge", "", ("status",), "1 at the status of the monitor."),
    "penstock_check_ok": Metric(
        "gauge", "", ("check", "scope"), "1 if a check of the monitor passes."
    ),
    "penstock_alerts_open": Metric("gauge", "alerts", ("severity",), "Open alerts."),
    "penstock_queue_depth": Metric("gauge", "jobs", (), "Jobs waiting, active and delayed."),
    "penstock_jobs": Metric("gauge", "jobs", ("state",), "Live jobs by state."),
    "penstock_jobs_waiting": Metric(
        "gauge", "jobs", ("lane", "pipeline"), "Waiting jobs; autoscalers use it."
    ),
    "penstock_items_pending": Metric(
        "gauge", "items", ("pipeline",), "Items of live jobs that wait."
    ),
    "penstock_queue_level": Metric("gauge", "", ("level",), "1 at the level of the queue."),
    "penstock_queue_oldest_waiting_seconds": Metric(
        "gauge", "seconds", (), "How long the job at the front has waited."
    ),
    "penstock_workers": Metric("gauge", "workers", (), "Running workers."),
    "penstock_slots": Metric("gauge", "slices", (), "Slices all workers can hold at once."),
    "penstock_slices": Metric("gauge", "slices", ("kind",), "Slices being worked on."),
    "penstock_dead_letters_open": Metric("gauge", "letters", (), "Open dead letters."),
    "penstock_jobs_ended_total": Metric(
        "counter", "jobs", ("pipeline", "status"), "Jobs that succeeded, failed or were cancelled."
    ),
    "penstock_job_rows_total": Metric("counter", "rows", ("pipeline",), "Rows of ended jobs."),
    "penstock_job_duration_seconds": Metric(
        "histogram", "seconds", ("pipeline",), "From submit to the end of a job."
    ),
    "penstock_leases_taken_back_total": Metric(
        "counter", "leases", (), "Leases taken back since the installation began."
    ),
    "penstock_leases_taken_back_recent": Metric(
        "gauge", "leases", (), "Leases taken back in the last 10 minutes."
    ),
    "penstock_provider_calls_recent": Metric(
        "gauge",
        "calls",
        ("provider", "outcome"),
        "Calls of the last 15 minutes: all, failed, throttled.",
    ),
    "penstock_provider_p95_seconds": Metric(
        "gauge", "seconds", ("provider",), "95th percentile of calls of the last 15 minutes."
    ),
    "penstock_api_request_duration_seconds": Metric(
        "histogram",
        "seconds",
        ("method", "route", "status"),
        "Time to answer a request, of the process that is asked; status is 2xx, 4xx, ….",
    ),
    "penstock_api_work_running": Metric("gauge", "requests", ("work",), "Requests under way."),
    "penstock_api_work_refused_total": Metric(
        "counter", "requests", ("work",), "Requests refused for want of a turn."
    ),
    "penstock_api_cpu_waiting": Metric(
        "gauge", "requests", (), "Requests of orgs over their processor budget."
    ),
    "penstock_api_cpu_refused_total": Metric(
        "counter", "requests", (), "Requests refused after waiting for it."
    ),
    "penstock_worker_slots": Metric("gauge", "slices", _WORKER, "Slices it can hold at once."),
    "penstock_worker_silent_seconds": Metric(
        "gauge", "seconds", _WORKER, "Time since its last heartbeat."
    ),
    "penstock_worker_busy_slots": Metric("gauge", "slices", _WORKER, "Slots in use."),
    "penstock_worker_cpu_share": Metric("gauge", "cores", _WORKER, "CPU used."),
    "penstock_worker_resident_memory_bytes": Metric("gauge", "bytes", _WORKER, "Memory used."),
    "penstock_worker_memory_budget_bytes": Metric(
        "gauge", "bytes", _WORKER, "Memory it should stay under."
    ),
    "penstock_worker_claim_factor": Metric(
        "gauge", "", _WORKER, "Part of a usual claim that is taken."
    ),
    "penstock_worker_items_per_second": Metric(
        "gauge", "items", _WORKER, "Items settled, over the last minute."
    ),
    "penstock_worker_claims_per_second": Metric(
        "gauge", "claims", _WORKER, "Claims, over the last minute."
    ),
    "penstock_worker_rows_per_second": Metric(
        "gauge", "rows", _WORKER, "Rows stored by ingests, over the last minute."
    ),
    "penstock_worker_ingest_batch_rows": Metric(
        "gauge", "rows", _WORKER, "Rows of the next ingest batch."
    ),
    "penstock_worker_db_latency_seconds": Metric(
        "gauge", "seconds", _WORKER, "Latency of ingest batches, smoothed."
    ),
    "penstock_worker_pool_wait_seconds": Metric(
        "gauge", "seconds", _WORKER, "Last wait for a database connection."
    ),
    "penstock_worker_items_settled_total": Metric("counter", "items", _WORKER, "Items settled."),
    "penstock_worker_items_retried_total": Metric(
        "counter", "items", _WORKER, "Items that wait for another try."
    ),
    "penstock_worker_claims_total": Metric("counter", "claims", _WORKER, "Claims."),
    "penstock_worker_ingested_rows_total": Metric(
        "counter", "rows", _WORKER, "Rows stored by ingests."
    ),
    "penstock_worker_leases_lost_total": Metric(
        "counter", "leases", _WORKER, "Slices lost before they were settled."
    ),
    "penstock_worker_items_ended_total": Metric(
        "counter",
        "items",
        ("worker", "status"),
        "Items that ended: done, error, not_found, skipped.",
    ),
    "penstock_worker_stage_item_seconds": Metric(
        "gauge", "seconds", _STAGE, "What an item takes, smoothed."
    ),
    "penstock_worker_stage_claim_items": Metric(
        "gauge", "items", _STAGE, "Items of the last claim."
    ),
    "penstock_worker_stage_lease_seconds": Metric(
        "gauge", "seconds", _STAGE, "Lease of the last claim."
    ),
    "penstock_worker_stage_error_share": Metric(
        "gauge", "", _STAGE, "Errors among the last hundred items."
    ),
    "penstock_worker_stage_retry_spacing": Metric(
        "gauge", "", _STAGE, "How much further apart than usual retries are."
    ),
    "penstock_worker_claim_duration_seconds": Metric(
        "histogram", "seconds", _WORKER, "Time to claim a slice, with its rows."
    ),
    "penstock_worker_slice_duration_seconds": Metric(
        "histogram", "seconds", _STAGE, "From the claim of a slice to its end."
    ),
    "penstock_worker_settle_duration_seconds": Metric(
        "histogram", "seconds", _WORKER, "Time to write the results of a piece of a slice."
    ),
    "penstock_worker_ingest_batch_duration_seconds": Metric(
        "histogram", "seconds", _WORKER, "Time to store a batch of rows (ingest_ms)."
    ),
    "penstock_worker_provider_call_duration_seconds": Metric(
        "histogram", "seconds", ("worker", "provider"), "Calls to providers that were answered."
    ),
    "penstock_worker_provider_throttles_total": Metric(
        "counter", "calls", ("worker", "provider"), "Calls that the provider throttled."
    ),
    "penstock_worker_calls_limit": Metric(
        "gauge", "calls", _CALL, "Calls a provider gets at once."
    ),
    "penstock_worker_calls_delay_seconds": Metric(
        "gauge", "seconds", _CALL, "Delay added between calls to a domain."
    ),
}
