"""What is known about rows: degrees, bounds, group sums, totals, weights."""
