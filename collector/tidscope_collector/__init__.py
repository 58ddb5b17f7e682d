"""The privileged part of tidscope: reads threads from the kernel, sends frames to the backend."""
