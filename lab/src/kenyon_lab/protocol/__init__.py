"""Class-incremental learning: tasks, measures, runs, and the store of their records."""
