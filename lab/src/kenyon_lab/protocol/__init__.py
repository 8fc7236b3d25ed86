"""Class-incremental learning: tasks, measures, runs and where their results are kept."""
