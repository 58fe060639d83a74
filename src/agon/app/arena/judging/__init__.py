"""Have language models judge matches: prompt, verdict, limits of use, measurements."""
