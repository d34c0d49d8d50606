-- The order of turns over all runs. No hash covers it: it says nothing of a run that its entries do not say.

CREATE TABLE arrivals (
    number INTEGER PRIMARY KEY,          -- later turns have higher ones
    place INTEGER NOT NULL               -- of the turn; where none lies any more, it was forgotten with its run
) STRICT;
INSERT INTO arrivals (place)             -- turns that came before there was an order, by time as far as it can be believed
SELECT place FROM turns ORDER BY max(at) OVER (PARTITION BY run ORDER BY place), place;

CREATE TABLE given (                     -- numbers that were given to what is gone; none is given twice
    one INTEGER PRIMARY KEY CHECK (one = 1),
    run INTEGER NOT NULL,
    arrival INTEGER NOT NULL
) STRICT;
INSERT INTO given VALUES (1, 0, 0);
