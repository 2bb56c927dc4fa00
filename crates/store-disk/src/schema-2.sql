-- From format 1 to format 2: jobs have lanes, and the dead can come back. This file is never edited again.

ALTER TABLE job ADD COLUMN lane TEXT;
-- 1: an older job of the same kind and lane is there, and this one is not to be taken whatever its time.
ALTER TABLE job ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;

DROP INDEX job_by_kind;
-- What can be taken of a kind, in the order of taking; and how many there are.
CREATE INDEX job_by_turn ON job (kind, behind, ready_at, id);
-- Who is the last of a lane, and who is the next.
CREATE INDEX job_by_lane ON job (kind, lane, id) WHERE lane IS NOT NULL;

ALTER TABLE dead_job ADD COLUMN lane TEXT;
ALTER TABLE dead_job ADD COLUMN messages TEXT NOT NULL DEFAULT ''; -- as in `job`
ALTER TABLE dead_job ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX dead_job_by_id ON dead_job (id);
CREATE INDEX dead_job_by_kind ON dead_job (kind, place);
