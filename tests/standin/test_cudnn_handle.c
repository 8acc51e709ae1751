/*
 * test_cudnn_handle.c - cuDNN is of the version the program wants, and takes its share of a device.
 */
#include "rehearsal.h"

#include "standin/cudnn/cudnn.h"

size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
int cudnnGetProperty(int kind, int *value);
int cudnnCreate(void **handle);
int cudnnDestroy(void *handle);
int cudnnSetStream(void *handle, void *stream);
int cudnnGetStream(const void *handle, void **stream);
int cudnnDropoutGetStatesSize(void *handle, size_t *bytes);
const char *cudnnGetErrorString(int status);

static void tell_versions(void)
{
    int major = 0;
    int minor = 0;
    int patch = -1;
    R_EQ(cudnnGetVersion(), 90000);
    R_EQ(cudnnGetCudartVersion(), 13000);
    R_EQ(cudnnGetProperty(0, &major), PLIM_CUDNN_OK);
    R_EQ(cudnnGetProperty(1, &minor), PLIM_CUDNN_OK);
    R_EQ(cudnnGetProperty(2, &patch), PLIM_CUDNN_OK);
    R_EQ(major, 9);
    R_EQ(minor, 0);
    R_EQ(patch, 0);
    R_EQ(cudnnGetProperty(3, &patch), PLIM_CUDNN_BAD_PARAM);
    R_TRUE(strcmp(cudnnGetErrorString(PLIM_CUDNN_NOT_SUPPORTED), "CUDNN_STATUS_NOT_SUPPORTED") ==
           0);
}

static void versions_are_those_of_the_stage(void)
{
    r_play(tell_versions);
}

static void make_two_handles(void)
{
    int stream = 0;
    void *told = NULL;
    void *handles[2] = { NULL };
    R_EQ(cudnnCreate(&handles[0]), PLIM_CUDNN_OK);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_LIBRARIES], 20 * MIB);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_CONTEXT], 100 * MIB);
    R_EQ(cudnnCreate(&handles[1]), PLIM_CUDNN_OK);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_LIBRARIES], 20 * MIB);
    R_TRUE(handles[0] != handles[1]);
    R_EQ(cudnnSetStream(handles[1], &stream), PLIM_CUDNN_OK);
    R_EQ(cudnnGetStream(handles[1], &told), PLIM_CUDNN_OK);
    R_TRUE(told == &stream);
    R_EQ(cudnnGetStream(handles[0], &told), PLIM_CUDNN_OK);
    R_TRUE(told == NULL);
    R_EQ(cudnnDestroy(handles[0]), PLIM_CUDNN_OK);
    R_EQ(cudnnDestroy(handles[1]), PLIM_CUDNN_OK);
}

static void the_first_handle_takes_the_library_s_share(void)
{
    r_play(make_two_handles);
}

static void ask_for_states(void)
{
    size_t bytes = 0;
    R_EQ(cudnnDropoutGetStatesSize(NULL, &bytes), PLIM_CUDNN_OK);
    R_EQ(bytes, 48 * 100 * 2048);
}

static void dropout_has_a_state_for_each_thread(void)
{
    r_play(ask_for_states);
}

T_MAIN(T_TEST(versions_are_those_of_the_stage), T_TEST(the_first_handle_takes_the_library_s_share),
       T_TEST(dropout_has_a_state_for_each_thread))
