CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    checksum TEXT NOT NULL,
    started TEXT,
    study TEXT NOT NULL,
    study_id TEXT NOT NULL,
    state TEXT NOT NULL,
    planned INTEGER NOT NULL,
    valid INTEGER NOT NULL,
    versions TEXT NOT NULL,
    host TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS cells (
    run TEXT NOT NULL,
    cell INTEGER NOT NULL,
    contender TEXT NOT NULL,
    coordinates TEXT NOT NULL,
    baseline TEXT,
    wrong_data INTEGER NOT NULL,
    stamp TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS levels (
    run TEXT NOT NULL,
    cell INTEGER NOT NULL,
    measure TEXT NOT NULL,
    unit TEXT NOT NULL,
    better TEXT NOT NULL,
    scale TEXT NOT NULL,
    point REAL NOT NULL,
    low REAL,
    high REAL,
    why_no_interval TEXT,
    method TEXT NOT NULL,
    trials INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS contrasts (
    run TEXT NOT NULL,
    cell INTEGER NOT NULL,
    measure TEXT NOT NULL,
    scale TEXT NOT NULL,
    point REAL NOT NULL,
    low REAL,
    high REAL,
    why_no_interval TEXT,
    method TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS cells_of_run ON cells (run);
CREATE INDEX IF NOT EXISTS levels_of_run ON levels (run);
CREATE INDEX IF NOT EXISTS contrasts_of_run ON contrasts (run);
