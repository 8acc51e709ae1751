/*
 * test_snapshot.c - what becomes of snapshots: every schema, every field, every oddity.
 *
 * Snapshots are written as JSON, which reads like the Python they come from; what they become is
 * written as describe.h does. The quotes of JSON are ' here, for legibility.
 */
#include "harness.h"

#include "torch/describe.h"

#include "plimsoll/snapshot.h"

#define LOG_BYTES_MAX ((size_t)1 << 26)
#define FRAME_F       "{'filename':'a.py','line':1,'name':'f'}"
#define FRAME_G       "{'filename':'b.py','line':2,'name':'g'}"
#define SEGMENT(more) \
    "{'device':0,'address':4096,'total_size':2048,'stream':0,'segment_type':'small'," more "}"

static const struct {
    const char *name;
    const char *json;
    const char *text;
    const char *generation;
} cases[] = {
    { "nothing", "{'segments':[],'device_traces':[]}", "", "" },
    { "1.x: a list of segments, blocks without addresses",
      "[{'device':1,'address':4096,'total_size':2048,'allocated_size':512,'active_size':1024,"
      "'segment_type':'large','blocks':[{'size':512,'state':'active_allocated'},"
      "{'size':512,'state':'active_pending_free'},{'size':1024,'state':'inactive'}]}]",
      "device 1\n"
      "segment 0x1000 2048 s0 pool 0,0 large\n"
      "block 0x1000 512/512 active_allocated\n"
      "block 0x1200 512/512 active_pending_free\n"
      "block 0x1400 1024/1024 inactive\n",
      "PyTorch 1.x" },
    { "2.0: requested size and stack from a block's history",
      "{'segments':[" SEGMENT(
          "'blocks':[{'size':512,'state':'active_allocated','history':[{'addr':4096,"
          "'real_size':500,'frames':[" FRAME_F "," FRAME_G "]},{'addr':4096,'real_size':7}]},"
          "{'size':1536,'state':'inactive','history':[{'addr':1,'real_size':9,"
          "'cpp_frames':['c10::alloc','main']}]}]") "],'device_traces':[[]]}",
      "device 0\n"
      "segment 0x1000 2048 s0 pool 0,0 small\n"
      "block 0x1000 512/500 active_allocated f@a.py:1<g@b.py:2\n"
      "block 0x1200 1536/9 inactive c10::alloc<main\n",
      "PyTorch 2.0" },
    { "2.1: everything a segment and a block can say",
      "{'segments':[{'device':0,'address':4096,'total_size':2048,'stream':77,"
      "'segment_type':'large','requested_size':1,'allocated_size':1,'active_size':1,"
      "'segment_pool_id':[3,4],'is_expandable':true,'frames':[" FRAME_G "],"
      "'blocks':[{'address':4096,'size':2048,'requested_size':2000,'state':'active_allocated',"
      "'frames':[" FRAME_F "]}]}],'device_traces':[]}",
      "device 0\n"
      "segment 0x1000 2048 s77 pool 3,4 large expandable g@b.py:2\n"
      "block 0x1000 2048/2000 active_allocated f@a.py:1\n",
      "PyTorch 2.1 or 2.2" },
    { "segments and blocks out of order are put in order",
      "{'segments':[{'device':0,'address':8192,'total_size':512,'segment_type':'small',"
      "'blocks':[]}," SEGMENT("'blocks':[{'address':5120,'size':1024,'state':'inactive'},"
                              "{'address':4096,'size':1024,'state':'active'}]") "]}",
      "device 0\n"
      "segment 0x1000 2048 s0 pool 0,0 small\n"
      "block 0x1000 1024/1024 active_allocated\n"
      "block 0x1400 1024/1024 inactive\n"
      "segment 0x2000 512 s0 pool 0,0 small\n",
      NULL },
    { "every action",
      "{'segments':[],'device_traces':[[{'action':'segment_alloc','addr':4096,'size':2048,"
      "'stream':0},{'action':'alloc','addr':4096,'size':500,'stream':0,'time_us':10},"
      "{'action':'free_requested','addr':4096,'size':500,'stream':5},"
      "{'action':'free_completed','addr':4096,'size':500,'stream':0},"
      "{'action':'segment_map','addr':8192,'size':1,'stream':0},"
      "{'action':'segment_unmap','addr':8192,'size':1,'stream':0},"
      "{'action':'segment_free','addr':4096,'size':2048,'stream':0},"
      "{'action':'snapshot','addr':0,'size':3,'stream':0},"
      "{'action':'oom','device_free':123,'size':512,'stream':0},"
      "{'action':'annotate','addr':4096,'size':1,'stream':0,'user_metadata':'label'}]]}",
      "device 0\n"
      "segment_alloc 0x1000 2048 s0\n"
      "alloc 0x1000 500 s0 t10\n"
      "free_requested 0x1000 500 s5\n"
      "free_completed 0x1000 500 s0\n"
      "segment_map 0x2000 1 s0\n"
      "segment_unmap 0x2000 1 s0\n"
      "segment_free 0x1000 2048 s0\n"
      "snapshot 0x0 3 s0\n"
      "oom 0x7b 512 s0\n"
      "annotate 0x1000 1 s0 metadata=label\n",
      NULL },
    { "an oom without device_free does not know it",
      "{'device_traces':[[{'action':'oom','size':512,'stream':0}]]}",
      "device 0\noom 0xffffffffffffffff 512 s0\n", "" },
    { "streams below zero are handles modulo 2^64",
      "{'device_traces':[[{'action':'alloc','addr':1,'size':1,'stream':-1}]]}",
      "device 0\nalloc 0x1 1 s18446744073709551615\n", NULL },
    { "addresses up to 2^64 - 1",
      "{'device_traces':[[{'action':'alloc','addr':18446744073709551615,'size':1,'stream':0}]]}",
      "device 0\nalloc 0xffffffffffffffff 1 s0\n", NULL },
    { "what rarely differs: pool, context, metadata, forward frames, category",
      "{'device_traces':[[{'action':'alloc','addr':1,'size':1,'stream':0,'pool_id':[0,7],"
      "'compile_context':'0/1','user_metadata':'m','forward_frames':['x','y'],'category':'opt'},"
      "{'action':'alloc','addr':2,'size':1,'stream':0,'pool_id':[0,0],"
      "'compile_context':'N/A','user_metadata':''}]]}",
      "device 0\n"
      "alloc 0x1 1 s0 pool 0,7 context=0/1 metadata=m forward=x\ny category=opt\n"
      "alloc 0x2 1 s0 pool 0,0\n",
      "PyTorch 2.12 or newer" },
    { "frames with torch.fx, and without a file",
      "{'device_traces':[[{'action':'alloc','addr':1,'size':1,'stream':0,'frames':["
      "{'filename':'a.py','line':1,'name':'f','fx_node_op':'call','fx_node_name':'add',"
      "'fx_node_target':'aten.add'},"
      "{'filename':'','line':0,'name':'operator new'}]}]]}",
      "device 0\nalloc 0x1 1 s0 f@a.py:1(call\nadd)<operator new@:0\n", NULL },
    { "settings, nested ones under their name",
      "{'segments':[],'allocator_settings':{'PYTORCH_CUDA_ALLOC_CONF':'a:b','max_split_size':-1,"
      "'garbage_collection_threshold':0.5,'expandable_segments':false,"
      "'roundup_power2_divisions':{'1':0,'2':4},'last':null}}",
      "setting PYTORCH_CUDA_ALLOC_CONF='a:b'\n"
      "setting max_split_size=-1\n"
      "setting garbage_collection_threshold=0.500\n"
      "setting expandable_segments=no\n"
      "setting roundup_power2_divisions/1=0\n"
      "setting roundup_power2_divisions/2=4\n"
      "setting last=none\n",
      "PyTorch 2.3 or 2.4" },
    { "what settings say of the ring buffer is said of every device",
      "{'device_traces':[[],[]],'allocator_settings':{'trace_alloc_overflowed':true,"
      "'trace_alloc_max_entries':100}}",
      "device 0 of 100 overflowed\n"
      "device 1 of 100 overflowed\n"
      "setting trace_alloc_overflowed=yes\n"
      "setting trace_alloc_max_entries=100\n",
      NULL },
    { "annotations",
      "{'segments':[],'external_annotations':[{'name':'step','stage':'START','device':1,"
      "'time_us':5},{'name':'step','stage':'END','device':1,'time_us':6}]}",
      "annotation START step on 1 t5\nannotation END step on 1 t6\n", "PyTorch 2.5 to 2.7" },
    { "pinned host memory is the last device",
      "{'segments':[],'device_traces':[[]],'host_segments':[" SEGMENT(
          "'blocks':[]") "],"
                         "'host_traces':[{'action':'alloc','addr':4096,'size':1,'stream':0}]}",
      "device 0\ndevice -1\nalloc 0x1000 1 s0\nsegment 0x1000 2048 s0 pool 0,0 small\n",
      "PyTorch 2.14 or newer" },
    { "host traces may be a list of lists",
      "{'segments':[],'host_traces':[[{'action':'alloc','addr':4096,'size':1,'stream':0}]]}",
      "device -1\nalloc 0x1000 1 s0\n", NULL },
    { "devices by trace and by segment",
      "{'device_traces':[[],[{'action':'alloc','addr':1,'size':1,'stream':0}]],'segments':["
      "{'device':4,'address':512,'total_size':1,'segment_type':'small','blocks':[]},"
      "{'device':1,'address':512,'total_size':1,'segment_type':'small','blocks':[]}]}",
      "device 0\n"
      "device 1\nalloc 0x1 1 s0\nsegment 0x200 1 s0 pool 0,0 small\n"
      "device 4\nsegment 0x200 1 s0 pool 0,0 small\n",
      NULL },
    { "a device with no number a device can have is device 0",
      "{'segments':[{'device':4294967297,'address':512,'total_size':1,'segment_type':'small',"
      "'blocks':[]},{'device':-7,'address':1024,'total_size':1,'segment_type':'small',"
      "'blocks':[]}],'external_annotations':[{'name':'x','stage':'END','device':1e10}]}",
      "device 0\nsegment 0x200 1 s0 pool 0,0 small\nsegment 0x400 1 s0 pool 0,0 small\n"
      "annotation END x on 0\nbad_field 3\n",
      NULL },
    { "unknown fields are counted, and told once",
      "{'device_traces':[[{'action':'alloc','addr':1,'size':1,'stream':0,'color':1},"
      "{'action':'alloc','addr':2,'size':1,'stream':0,'color':2}]],'weather':3}",
      "device 0\nalloc 0x1 1 s0\nalloc 0x2 1 s0\nunknown_field 3\n"
      "warning the snapshot has a member \"weather\" that this version does not know; it is left "
      "out\n"
      "warning events have a field \"color\" that this version does not know (2 times); it is "
      "left out\n",
      NULL },
    { "unknown actions keep their name",
      "{'device_traces':[[{'action':'teleport','addr':1,'size':1,'stream':0}]]}",
      "device 0\nteleport 0x1 1 s0\nunknown_action 1\n", NULL },
    { "fields of the wrong type are counted and left out",
      "{'device_traces':[[{'action':'alloc','addr':'x','size':[],'stream':'y','time_us':'z',"
      "'frames':7,'pool_id':[1],'compile_context':5}]]}",
      "device 0\nalloc 0x0 0 s0\nbad_field 7\n", NULL },
    { "whole floats are integers, broken ones are not",
      "{'device_traces':[[{'action':'alloc','addr':4096.0,'size':1e3,'stream':0},"
      "{'action':'alloc','addr':-1.0,'size':1e300,'stream':0}]]}",
      "device 0\nalloc 0x1000 1000 s0\nalloc 0x0 0 s0\nbad_field 2\n", NULL },
    { "times end in 1677 and in 2262",
      "{'device_traces':[["
      "{'action':'alloc','addr':1,'size':1,'stream':0,'time_us':9223372036854775},"
      "{'action':'alloc','addr':2,'size':1,'stream':0,'time_us':9223372036854776},"
      "{'action':'alloc','addr':3,'size':1,'stream':0,'time_us':-9223372036854775},"
      "{'action':'alloc','addr':4,'size':1,'stream':0,'time_us':-9223372036854776}]]}",
      "device 0\nalloc 0x1 1 s0 t9223372036854775\nalloc 0x2 1 s0\n"
      "alloc 0x3 1 s0 t-9223372036854775\nalloc 0x4 1 s0\nbad_field 2\n",
      NULL },
    { "missing fields are counted", "{'device_traces':[[{'action':'alloc','size':1,'stream':0}]]}",
      "device 0\nalloc 0x0 1 s0\nmissing_field 1\n", NULL },
    { "items of a trace that are no events are counted",
      "{'device_traces':[[5,{'action':'alloc','addr':1,'size':1,'stream':0},'x',{}]]}",
      "device 0\nalloc 0x1 1 s0\nbad_field 3\n", NULL },
    { "frames that are no frames",
      "{'device_traces':[[{'action':'alloc','addr':1,'size':1,'stream':0,"
      "'frames':['text',5," FRAME_F "]}]]}",
      "device 0\nalloc 0x1 1 s0 text<<f@a.py:1\nbad_field 1\n", NULL },
    { "a block in a state nobody knows is free",
      "{'segments':[" SEGMENT("'blocks':[{'address':4096,'size':512,'state':'melting'}]") "]}",
      "device 0\nsegment 0x1000 2048 s0 pool 0,0 small\nblock 0x1000 512/512 inactive\n"
      "bad_field 1\n",
      NULL },
    { "traces that are no list", "{'segments':7,'device_traces':{}}", "", NULL },
};

/* JSON with its own quotes; the caller frees it. */
static char *with_quotes(const char *text)
{
    char *copy = strdup(text);
    T_NOT_NULL(copy);
    for (char *at = copy; *at != '\0'; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    return copy;
}

static plim_history *parse(const void *data, size_t bytes)
{
    plim_history *history = NULL;
    plim_error err = { .message = "" };
    const plim_status status = plim_snapshot_parse(data, bytes, NULL, &history, &err);
    T_EQ_STR(err.message, "");
    T_EQ_U64(status, PLIM_OK);
    return history;
}

static void fields_land_where_they_belong(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        char *json = with_quotes(cases[i].json);
        plim_history *history = parse(json, strlen(json));
        plim_text text = describe(history);
        T_EQ_STR(plim_text_string(&text), cases[i].text);
        const plim_source source = plim_history_source(history);
        T_EQ_STR(source.format, "json");
        T_EQ_U64(source.bytes, strlen(json));
        if (cases[i].generation != NULL) {
            T_EQ_STR(source.generation, cases[i].generation);
        }
        plim_text_deinit(&text);
        plim_history_destroy(history);
        free(json);
    }
}

static const struct {
    const char *name;
    const char *json;
    plim_status status;
    const char *message;
} refusals[] = {
    { "some other dict", "{'a':1}", PLIM_UNSUPPORTED, "without \"segments\"" },
    { "some other list", "[1,2]", PLIM_UNSUPPORTED, "a list without" },
    { "a profiler trace", "{'traceEvents':[]}", PLIM_UNSUPPORTED, "profiler trace" },
    { "text", "hello", PLIM_UNSUPPORTED, "neither a pickle nor JSON" },
    { "an event alone", "{'action':'alloc'}", PLIM_UNSUPPORTED, "a dict without" },
    { "JSON that ends early", "{'segments':[", PLIM_CORRUPT, "damaged JSON" },
    { "JSON with more behind it", "{'segments':[]}}", PLIM_CORRUPT, "damaged JSON" },
    { "JSON with a comma too many", "{'segments':[1,]}", PLIM_CORRUPT, "damaged JSON" },
    { "JSON of nothing but space", "  {", PLIM_CORRUPT, "damaged JSON" },
};

static void what_is_no_snapshot_is_told_apart(void)
{
    for (size_t i = 0; i < T_COUNT(refusals); i++) {
        T_CASE("%s", refusals[i].name);
        plim_history *history = NULL;
        plim_error err = { .message = "" };
        char *json = with_quotes(refusals[i].json);
        const plim_status status = plim_snapshot_parse(json, strlen(json), NULL, &history, &err);
        T_EQ_STR(plim_status_name(status), plim_status_name(refusals[i].status));
        T_NULL(history);
        if (strstr(err.message, refusals[i].message) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", err.message, refusals[i].message);
        }
        free(json);
    }
}

/* A pickle of `count` references to the second memo entry between two texts. */
static plim_text repeating_pickle(const char *head, size_t head_bytes, size_t count,
                                  const char *tail)
{
    plim_text text;
    plim_text_init(&text, NULL, LOG_BYTES_MAX);
    plim_text_append(&text, head, head_bytes);
    for (size_t i = 0; i < count; i++) {
        plim_text_append(&text, "h\1", 2);
    }
    plim_text_append_string(&text, tail);
    return text;
}

#define EVENT    \
    "}(\x8c\x06" \
    "actionh\2\x8c\4addrK\1\x8c\4sizeK\1u"

/* One trace of 200 events, 200 times over: 40 000 events in 6 000 bytes. */
static void sharing_cannot_multiply_records(void)
{
    plim_text head;
    plim_text_init(&head, NULL, LOG_BYTES_MAX);
    plim_text_append_string(&head, "\x80\4\x8c\5xxxxx\x94"
                                   "0(]\x94\x8c\5alloc\x94"
                                   "0(");
    for (int i = 0; i < 200; i++) {
        plim_text_append(&head, EVENT, sizeof EVENT - 1);
    }
    plim_text_append_string(&head, "e1}\x8c\x0d"
                                   "device_traces](");
    for (size_t traces = 1; traces <= 200; traces += 199) {
        plim_text pickle = repeating_pickle(head.data, head.length, traces, "es.");
        plim_history *history = NULL;
        plim_error err = { .message = "" };
        const plim_status status =
            plim_snapshot_parse(pickle.data, pickle.length, NULL, &history, &err);
        T_EQ_STR(err.message[0] == '\0' ? "" : plim_status_name(status),
                 traces == 1 ? "" : "PLIM_LIMIT");
        plim_history_destroy(history);
        plim_text_deinit(&pickle);
    }
    plim_text_deinit(&head);
}

/* --- the same snapshot in many files --- */

static plim_text load_text(const char *path)
{
    plim_history *history = NULL;
    plim_error err = { .message = "" };
    T_CASE("%s", path);
    const plim_status status = plim_snapshot_load(path, NULL, &history, &err);
    T_EQ_STR(err.message, "");
    T_EQ_U64(status, PLIM_OK);
    plim_text text = describe(history);
    plim_history_destroy(history);
    return text;
}

static void every_protocol_and_compression_gives_the_same_history(void)
{
    static const char *const families[][8] = {
        { "protocol-0", "protocol-1", "protocol-2", "protocol-3", "protocol-4", "protocol-5" },
        { "opcodes-0", "opcodes-1", "opcodes-2", "opcodes-3", "opcodes-4", "opcodes-5" },
        { "json", "json-gzip", "json-zstd" },
    };
    for (size_t i = 0; i < T_COUNT(families); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "fuzz/corpus/snapshot/%s", families[i][0]);
        plim_text expected = load_text(path);
        for (size_t k = 1; k < 8 && families[i][k] != NULL; k++) {
            (void)snprintf(path, sizeof path, "fuzz/corpus/snapshot/%s", families[i][k]);
            plim_text text = load_text(path);
            T_EQ_STR(plim_text_string(&text), plim_text_string(&expected));
            plim_text_deinit(&text);
        }
        plim_text_deinit(&expected);
    }
}

static void sources_say_what_they_were(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_snapshot_load("fuzz/corpus/snapshot/pickle-gzip", NULL, &history, NULL), PLIM_OK);
    const plim_source source = plim_history_source(history);
    T_EQ_STR(source.format, "pickle");
    T_EQ_STR(source.compression, "gzip");
    T_TRUE(source.pickle_protocol >= 0);
    T_TRUE(source.bytes > 500);
    plim_history_destroy(history);
    T_EQ_U64(plim_snapshot_load("no/such/file", NULL, &history, NULL), PLIM_IO);
}

static bool refuse(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)ctx;
    (void)done_bytes;
    (void)total_bytes;
    return false;
}

static void loading_can_be_stopped(void)
{
    static const char *const paths[] = { "fuzz/corpus/snapshot/rich", "fuzz/corpus/snapshot/json" };
    const plim_load_options options = { .progress = refuse };
    for (size_t i = 0; i < T_COUNT(paths); i++) {
        plim_history *history = NULL;
        const plim_status status = plim_snapshot_load(paths[i], &options, &history, NULL);
        T_TRUE(status == PLIM_CANCELLED || status == PLIM_OK); /* small files are read at once */
        T_EQ_I64(history == NULL, status != PLIM_OK);
        plim_history_destroy(history);
    }
}

/*
 * Every allocation fails once. A cache that gets no memory may do without, so success is no
 * surprise, but then the history is the same.
 */
static void running_out_of_memory_anywhere_leaks_nothing(void)
{
    static const char *const names[] = { "2.0",  "2.14",      "protocol-0", "rich",
                                         "json", "json-gzip", "opcodes-1" };
    for (size_t i = 0; i < T_COUNT(names); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "fuzz/corpus/snapshot/%s", names[i]);
        plim_text expected = load_text(path);
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            t_mem heap;
            t_mem_init(&heap);
            heap.fail_at = n;
            const plim_load_options options = { .mem = &heap.mem };
            plim_history *history = NULL;
            const plim_status status = plim_snapshot_load(path, &options, &history, NULL);
            T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
            T_EQ_I64(history != NULL, status == PLIM_OK);
            if (history != NULL) {
                plim_text text = describe(history);
                T_EQ_STR(plim_text_string(&text), plim_text_string(&expected));
                plim_text_deinit(&text);
            }
            plim_history_destroy(history);
            T_EQ_U64(heap.live_bytes, 0);
            failed = heap.failed;
        }
        plim_text_deinit(&expected);
    }
}

T_MAIN(T_TEST(fields_land_where_they_belong), T_TEST(what_is_no_snapshot_is_told_apart),
       T_TEST(sharing_cannot_multiply_records),
       T_TEST(every_protocol_and_compression_gives_the_same_history),
       T_TEST(sources_say_what_they_were), T_TEST(loading_can_be_stopped),
       T_TEST(running_out_of_memory_anywhere_leaks_nothing))
