"""Tables as full as they get, by the size of what grows with use: what plans are looked at on."""

from __future__ import annotations

from penstock.store.database import Connection

_PLENTY = """
INSERT INTO orgs (name, plan) SELECT 'org' || n, 'standard' FROM generate_series(1, 50) n;
INSERT INTO org_time (org_id) SELECT id FROM orgs;
INSERT INTO users (org_id, email, role) SELECT id, name || '@x', 'member' FROM orgs;
INSERT INTO users (org_id, email, role)
SELECT 1 + n % 50, 'user' || n || '@x', 'member' FROM generate_series(1, 5000) n;
INSERT INTO passwords (user_id, org_id, hash) SELECT id, org_id, '$argon2id$' FROM users;
INSERT INTO api_keys (org_id, user_id, hash, prefix)
SELECT org_id, id, sha256(email::bytea), 'pk' FROM users;
INSERT INTO sessions (id, org_id, user_id, hash, idle_until, expires_at)
SELECT gen_random_uuid(), org_id, id, sha256(email::bytea), now() + id * interval '1 minute',
       now() + interval '1 year'
FROM users;
INSERT INTO files (id, org_id, user_id, name, media_type, sha256, size, blob_key, created_at)
SELECT gen_random_uuid(), org_id, id, 'a.csv', 'text/csv', repeat('0', 64), 1, 'blob' || id,
       now() - id * interval '1 minute'
FROM users;
INSERT INTO org_usage (org_id, rows) SELECT id, 1 FROM orgs;
INSERT INTO uploads (id, org_id, user_id, name, media_type, length, expires_at)
SELECT id, org_id, user_id, name, media_type, 1, created_at FROM files;
INSERT INTO idempotency_keys (org_id, user_id, key, request_hash, response, created_at)
SELECT org_id, user_id, id::text, '', '', created_at FROM files;
INSERT INTO bulk_operations (id, org_id, user_id, action, filter, state, finished_at)
SELECT id, org_id, user_id, 'cancel', '{}', 'done', now() FROM files;
INSERT INTO profiles (org_id, name, version, fingerprint, body, user_id)
SELECT org_id, name || n, version, 'f' || n, '{}', id
FROM (SELECT id, org_id, email AS name, id AS n FROM users) u, generate_series(1, 3) version;
INSERT INTO rates (base, currency, day, worth)
SELECT 'EUR', c, d, 1 FROM unnest('{USD,GBP,CHF,SEK}'::text[]) c,
       generate_series(date '2020-01-01', date '2023-01-01', '1 day') d;
INSERT INTO jobs (id, org_id, user_id, pipeline, lane, file_id, state, total, pending, done,
                  finished_at)
SELECT gen_random_uuid(), 1 + n % 50, 1 + n % 50, 'noop', 'standard',
       CASE WHEN n % 2 = 0 THEN (SELECT id FROM files WHERE blob_key = 'blob' || n) END,
       CASE WHEN n % 10 = 0 THEN 'queued' ELSE 'done' END,
       100, CASE WHEN n % 10 = 0 THEN 100 ELSE 0 END, CASE WHEN n % 10 = 0 THEN 0 ELSE 100 END,
       CASE WHEN n % 10 = 0 THEN NULL ELSE now() END
FROM generate_series(1, 1000) n;
INSERT INTO job_stages (job_id, position, org_id, kind, name, pending, open, ready_at)
SELECT id, 0, org_id, 'items', 'work', pending, pending, now() FROM jobs;
INSERT INTO job_errors (job_id, org_id, code, count)
SELECT id, org_id, 'CODE_' || n, 1 FROM jobs, generate_series(1, 5) n;
INSERT INTO slices (id, kind, job_id, org_id, pipeline, stage, position, worker, expires_at,
                    expected_ms, vstart)
SELECT gen_random_uuid(), 'items', id, org_id, pipeline, 'work', 0, 'worker ' || n % 20, now(), 1, 1
FROM jobs, generate_series(1, 3) n WHERE state = 'queued';
INSERT INTO webhook_streams (pipeline, job_id, org_id, user_id, closed_at)
SELECT 'webhooks', id, org_id, user_id, now() FROM jobs;
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, due_at, group_key, input)
SELECT j.id, n, j.org_id, j.user_id, 'noop', CASE WHEN j.pending > 0 THEN 'PENDING' ELSE 'DONE' END,
       CASE WHEN n % 20 = 0 THEN now() END, CASE WHEN n % 25 = 0 THEN 'g' || n END, '[]'
FROM jobs j, generate_series(1, 100) n;
INSERT INTO saved_values (org_id, source, field, word, value, user_id)
SELECT org_id, 'acme', 'title', 'w' || id, '', id FROM users;
INSERT INTO export_templates (org_id, name, body, user_id)
SELECT org_id, 't' || id, '{}', id FROM users;
INSERT INTO product_links (id, org_id, source, source_id, other_source, other_source_id, state, by,
                           user_id)
SELECT gen_random_uuid(), u.org_id, 'acme', 'a' || n, 'bolt', 'b' || n, 'accepted', 'gtin', u.id
FROM (SELECT min(id) AS id, org_id FROM users GROUP BY org_id) AS u, generate_series(1, 200) AS n;
INSERT INTO job_edits (id, job_id, org_id, user_id, edited_by, selection, change)
SELECT gen_random_uuid(), id, org_id, user_id, user_id, '{}', '{}' FROM jobs, generate_series(1, 5);
INSERT INTO job_edit_rows (edit_id, row_no, job_id, org_id, before, after)
SELECT e.id, n, e.job_id, e.org_id, '{}', '{}' FROM job_edits e, generate_series(1, 5) n;
INSERT INTO events (org_id, job_id, seq, event)
SELECT org_id, id, n, 'job.progress' FROM jobs, generate_series(1, 20) n;
INSERT INTO dead_letters (id, org_id, user_id, job_id, pipeline, name, config, priority, attempts,
                          code, message, signature, first_failed_at, last_failed_at)
SELECT gen_random_uuid(), 1 + n % 50, 1 + n % 50, gen_random_uuid(), 'noop', '', '{}', 5, 1, 'X',
       'x', 'noop:X:' || n % 700, now(), now() - n * interval '1 second'
FROM generate_series(1, 10000) n;
INSERT INTO dead_letter_groups (org_id, signature, user_id, open, first_failed_at, last_failed_at,
                                newest)
SELECT org_id, signature, user_id, count(*), now(), now(), min(id::text)::uuid
FROM dead_letters GROUP BY org_id, signature, user_id;
INSERT INTO products (id, org_id, source, source_id, sku, gtin, data, job_id, row_no, updated_at)
SELECT gen_random_uuid(), 1 + n % 50, 'file', 'id-' || n, 'S-' || n, lpad(n::text, 14, '0'),
       jsonb_build_object('title', 'Bolt no ' || n || ' of ' || n % 97,
                          'price', jsonb_build_object('amount', (n % 999)::text),
                          'images', jsonb_build_array(jsonb_build_object('url', 'u' || n))),
       gen_random_uuid(), n, now() - n * interval '1 second'
FROM generate_series(1, 20000) n;
UPDATE products SET title_key = title_key(data->>'title'), maker = maker_key(data),
    price_key = price_key(data->'price'->>'amount'), words = title_words(data->>'title');
INSERT INTO product_changes (job_id, product_id, org_id, row_no, version, undone_at)
SELECT job_id, id, org_id, row_no, 1, CASE WHEN row_no % 10 = 0 THEN now() END FROM products;
INSERT INTO job_keys (job_id, row_no, key, org_id)
SELECT md5((n % 2)::text)::uuid, n, 'seen:id:id-' || n, 1 FROM generate_series(1, 20000) n;
INSERT INTO job_files (job_id, place, org_id, file_id)
SELECT j.id, 1, j.org_id, f.id FROM jobs j
CROSS JOIN LATERAL (SELECT id FROM files f WHERE f.org_id = j.org_id LIMIT 1) AS f;
INSERT INTO blob_refs (blob_key, org_id, kind, owner)
SELECT 'ref' || n, id, 'picture', 'p' || n FROM orgs, generate_series(1, 20) n;
INSERT INTO pictures (org_id, url_hash, url, blob_key, sha256, size, job_id, phash, dhash, bands)
SELECT 1 + n % 50, 'h' || n, 'u' || n, 'b' || n, 's' || n % 5000, 1, gen_random_uuid(),
       left(md5(n::text), 16), right(md5(n::text), 16),
       hash_bands(left(md5(n::text), 16), right(md5(n::text), 16))
FROM generate_series(1, 20000) n;
INSERT INTO provider_states (org_id, provider, company, domain, tokens)
SELECT id, 'shopify', '', 'shop' || n, 1 FROM orgs, generate_series(1, 200) n;
INSERT INTO provider_calls (org_id, provider, company, domain, minute, calls, failed, throttled,
                            durations)
SELECT 1 + n % 50, 'shopify', '', 'shop' || n % 200, now() - n * interval '1 minute', 1, 0, 0, '{1}'
FROM generate_series(1, 20000) n;
INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success, queued_ms,
                         run_ms, total_ms, total, done, error, not_found, skipped, attempts,
                         finished_at)
SELECT 1 + n % 50, gen_random_uuid(), 1, 'noop', 'basic', 'done', true, 1, 1, 2, 1, 1, 0, 0, 0, 0,
       now() - n * interval '1 minute'
FROM generate_series(1, 20000) n;
INSERT INTO job_rollups (span, at, org_id, pipeline, succeeded, failed, cancelled, rows, row_errors,
                         queued_ms, run_ms, total_ms, durations)
SELECT 'minute', now() - n * interval '1 minute', 1 + n % 50, 'noop', 1, 0, 0, 1, 0, 1, 1, 2,
       '{"0": 1}'
FROM generate_series(1, 20000) n;
INSERT INTO health_checks (at, status, depth, waiting, active, oldest_ms, workers, checks, figures)
SELECT now() - n * interval '30 seconds', 'healthy', 0, 0, 0, 0, 2, '[]', '{}'
FROM generate_series(1, 20000) n;
INSERT INTO search_events (org_id, job_id, row_no, generation, attempt, provider, variant, query,
                           outcome, candidates, latency_ms)
SELECT j.org_id, j.id, n, 1, 0, 'catalog', 'gtin', 'q', 'notFound', 0, 1
FROM jobs j, generate_series(1, 20) n;
INSERT INTO job_ranges (job_id, first_row, org_id, rows, lines)
SELECT id, 1 + 2000 * n, org_id, 2000, '' FROM jobs, generate_series(0, 20) n;
INSERT INTO group_counters (job_id, group_key, counter, org_id, value)
SELECT id, 'g', 'done', org_id, 1 FROM jobs;
INSERT INTO group_times (org_id, pipeline, stage, group_key, free_at)
SELECT id, 'noop', 'stage1', 'g' || n, now() FROM orgs, generate_series(1, 20) n;
INSERT INTO product_edits (id, org_id, product_id, user_id, changes)
SELECT gen_random_uuid(), p.org_id, p.id, u.id, '[]'
FROM products p JOIN (SELECT min(id) AS id, org_id FROM users GROUP BY org_id) AS u USING (org_id);
INSERT INTO job_missing (job_id, source_id, org_id, product_id, unpublished)
SELECT job_id, source_id, org_id, id, false FROM products;
INSERT INTO result_cache (org_id, sha256, key, job_id, made_at)
SELECT j.org_id, md5(n::text), j.id::text || n, j.id, now() - n * interval '1 minute'
FROM jobs j, generate_series(1, 10) n;
INSERT INTO notification_targets (id, org_id, user_id, installation, name, kind, address,
                                  shown_address, severities, events)
SELECT gen_random_uuid(), id, id, false, 'n', 'slack', '', 'h', '{}', '{}' FROM orgs;
INSERT INTO notifications (id, org_id, user_id, target_id, event, phase, message, state, picked_at,
                           settled_at)
SELECT gen_random_uuid(), t.org_id, t.user_id, t.id, 'e', 'event', '{}', 'sent',
       now() - n * interval '1 minute', now() - n * interval '1 minute'
FROM notification_targets t, generate_series(1, 400) n;
INSERT INTO job_watchers (job_id, user_id, org_id) SELECT id, user_id, org_id FROM jobs;
INSERT INTO job_mail_settings (user_id, org_id, jobs) SELECT id, org_id, 'none' FROM users;
INSERT INTO webhook_endpoints (id, org_id, user_id, url, events, secret)
SELECT gen_random_uuid(), id, id, 'https://example.com/', '{*}', '' FROM orgs;
INSERT INTO connections (id, org_id, user_id, provider, name, address, credentials)
SELECT gen_random_uuid(), id, id, 'shopify', 'Shop ' || n, 'https://shop.example', ''
FROM orgs, generate_series(1, 20) n;
INSERT INTO sources (id, org_id, user_id, name, config, rate, credentials)
SELECT gen_random_uuid(), id, id, 'source-' || n, '{}', '60/min', ''
FROM orgs, generate_series(1, 20) n;
INSERT INTO retention_policies (org_id, policy) SELECT id, '{}' FROM orgs;
INSERT INTO feeds (id, org_id, user_id, name, secret_hash, options)
SELECT gen_random_uuid(), id, id, 'feed-' || n, sha256((id || '-' || n)::bytea), '{}'
FROM orgs, generate_series(1, 20) n;
INSERT INTO feed_files (feed_id, kind, org_id, blob_key, sha256, size, included, left_out)
SELECT id, 'xml', org_id, 'feed', '', 1, 1, '{}' FROM feeds;
INSERT INTO schedules (id, org_id, user_id, name, cron, time_zone, catch_up, action, pause_after,
                       next_at)
SELECT gen_random_uuid(), id, id, 'schedule-' || n, '0 6 * * *', 'UTC', 'once', '{}', 5,
       now() + n * interval '1 hour'
FROM orgs, generate_series(1, 100) n;
INSERT INTO schedule_runs (schedule_id, due_at, org_id, state)
SELECT id, now() - n * interval '1 day', org_id, 'done' FROM schedules, generate_series(1, 20) n;
INSERT INTO watchers (id, org_id, user_id, name, kind, address, credentials, pattern, after_taken,
                      complete_by, job, every_seconds)
SELECT gen_random_uuid(), id, id, 'Place ' || n, 'folder', '/in', '', '*', 'keep', 'unchanged',
       '{}', 60
FROM orgs, generate_series(1, 20) n;
INSERT INTO watched_files (id, org_id, watcher_id, name, version, size)
SELECT gen_random_uuid(), org_id, id, 'file-' || n, '1', 1 FROM watchers, generate_series(1, 20) n;
INSERT INTO research_requests (org_id, request_id, job_id) SELECT org_id, id::text, id FROM jobs;
INSERT INTO research_usage (org_id, user_id, period)
SELECT id, n, 'day ' || n FROM orgs, generate_series(0, 100) n;
INSERT INTO research_quotas (org_id) SELECT id FROM orgs;
INSERT INTO research_queries (org_id, name, request, user_id)
SELECT id, 'query-' || n, '{}', id FROM orgs, generate_series(1, 50) n;
INSERT INTO org_secrets (org_id, secret) SELECT id, '' FROM orgs;
INSERT INTO job_pace (meter, next_at) SELECT 'meter-' || n, now() FROM generate_series(1, 2000) n;
INSERT INTO webhook_deliveries (id, org_id, user_id, endpoint_id, event_id, event, stream_job,
                                row_no, state, settled_at)
SELECT gen_random_uuid(), w.org_id, w.user_id, w.id, n, 'job.completed', gen_random_uuid(), n,
       'delivered', now() - n * interval '1 minute'
FROM webhook_endpoints w, generate_series(1, 400) n;
INSERT INTO pages (id, org_id, company, url_hash, url, version, job_id)
SELECT gen_random_uuid(), 1 + n % 50, 'company' || n % 200, 'h' || n, 'https://x.example/' || n, 2,
       gen_random_uuid()
FROM generate_series(1, 10000) n;
INSERT INTO page_versions (page_id, version, org_id, job_id, row_no, final_url, blob_key, sha256,
                           size, digest)
SELECT p.id, n, p.org_id, p.job_id, 1, p.url, 'blob', 'sha', 1, 'd' FROM pages p,
       generate_series(1, 2) n;
INSERT INTO postings (id, org_id, page_id, company, url, title, words, data, lineage, job_id,
                      row_no)
SELECT gen_random_uuid(), org_id, id, company, url, 'Fitter', 'fitter', '{}', '{}', job_id, 1
FROM pages;
INSERT INTO posting_changes (job_id, posting_id, org_id, row_no, version)
SELECT job_id, id, org_id, 1, 1 FROM postings;
INSERT INTO robots_rules (org_id, origin, user_agent, rules)
SELECT 1 + n % 50, 'https://x' || n, 'Penstock', '{}' FROM generate_series(1, 2000) n;
INSERT INTO audit (org_id, user_id, action, target)
SELECT 1 + n % 50, 1 + n % 50, 'job.' || n % 40, 'job:' || n FROM generate_series(1, 20000) n;
INSERT INTO sign_in_tries (account, network)
SELECT decode(md5((n % 500)::text), 'hex'), decode(md5((n % 700)::text), 'hex')
FROM generate_series(1, 10000) n;
INSERT INTO sign_in_networks (account, network, at)
SELECT decode(md5((n % 500)::text), 'hex'), decode(md5(n::text), 'hex'),
       now() - n * interval '1 hour'
FROM generate_series(1, 10000) n;
ANALYZE;
"""


async def fill(conn: Connection) -> None:
    """One by one: what is written in a long transaction holds up the outboxes of other tests."""
    for statement in _PLENTY.split(";\n"):
        if statement.strip():
            await conn.execute(statement)
