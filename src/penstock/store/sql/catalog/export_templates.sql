-- name: list_templates
-- Templates of an org, by name.
SELECT name, body, updated_at FROM export_templates WHERE org_id = $1 ORDER BY name LIMIT $2

-- name: get_template
-- A template by name.
SELECT name, body, updated_at FROM export_templates WHERE org_id = $1 AND name = $2

-- name: count_templates
-- How many templates an org has, without the named one.
SELECT count(*) FROM export_templates WHERE org_id = $1 AND name <> $2

-- name: save_template
-- A template, new or changed.
INSERT INTO export_templates (org_id, name, body, user_id) VALUES ($1, $2, $3::jsonb, $4)
ON CONFLICT (org_id, name)
DO UPDATE SET body = excluded.body, user_id = excluded.user_id, updated_at = now()

-- name: delete_template
-- Delete a template.
DELETE FROM export_templates WHERE org_id = $1 AND name = $2
