//! What attackers try: nothing gets out, nothing brings the program down, and nothing that a job says acts.

mod hostile;
