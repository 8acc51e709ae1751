/*
 * version.c - run-time compilation: version and words. Nothing is compiled.
 */
int nvrtcVersion(int *major, int *minor);
const char *nvrtcGetErrorString(int status);

int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

const char *nvrtcGetErrorString(int status)
{
    return status == 0 ? "NVRTC_SUCCESS" : "unknown NVRTC error";
}
