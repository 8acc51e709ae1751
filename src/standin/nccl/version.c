/*
 * version.c - NCCL: version and words only. Communication is not modelled.
 */
int ncclGetVersion(int *version);
const char *ncclGetErrorString(int status);
const char *ncclGetLastError(void *communicator);

int ncclGetVersion(int *version)
{
    *version = 22809; /* 2.28.9, which torch 2.11.0 asks for in its metadata */
    return 0;
}

const char *ncclGetErrorString(int status)
{
    return status == 0 ? "no error" : "unknown NCCL error";
}

const char *ncclGetLastError(void *communicator)
{
    (void)communicator;
    return "";
}
