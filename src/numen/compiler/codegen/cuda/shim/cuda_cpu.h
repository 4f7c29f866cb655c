// Runs CUDA C++ kernels on a CPU: the very same text that goes to NVRTC compiles here as C++17.
//
// `shim.py` puts this file before the CUDA source and a launch function behind it (NUMEN_LAUNCHER),
// compiles the three as a shared object and calls it. A launch runs the blocks one after another on
// the calling OS thread. Inside a block each CUDA thread that has to wait (at a barrier, in a
// shuffle) stands on a fiber: a stack that another fiber can take over from. A thread that
// never waits needs none of its own, so a kernel without barriers is a plain loop.
//
// What a GPU would answer with a hang or with undefined values is reported as an error that names
// threads and lines. Not covered: inline PTX, textures, cooperative groups, vector types, spinning
// on another thread of the same block.
#pragma once

// C headers only: a compiler that brings no C++ library is enough.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- Words of the language ----------------------------------------------------------------------

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
// Blocks run one at a time on an OS thread and fibers never leave theirs, so one copy per OS thread
// is one per block.
#define __shared__ static thread_local

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

static thread_local uint3 threadIdx, blockIdx;
static thread_local dim3 blockDim, gridDim;
enum { warpSize = 32 };

namespace sim {

// ---- Context switch -----------------------------------------------------------------------------
//
// A Context is a suspended flow of control. `Context::swap(from, to)` saves the running one in
// `from` and continues `to`. Only what a function call must preserve is saved: 2-3 ns, against 300
// ns of ucontext, which makes system calls.

using Entry = void (*)();

#if defined(__x86_64__) && defined(__ELF__) && !defined(NUMEN_UCONTEXT)

extern "C" void numen_sim_swap(void **save, void *next) __attribute__((visibility("hidden")));
asm(R"(
    .text
    .hidden numen_sim_swap
    .globl numen_sim_swap
    .type numen_sim_swap, @function
numen_sim_swap:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size numen_sim_swap, .-numen_sim_swap
)");

struct Context {
    void *stack;

    // Lays out a stack as if `entry` had been suspended at its first instruction: six saved
    // registers, the address that `ret` takes, and a null return address that keeps the stack
    // aligned as after a call.
    void prepare(char *low, char *high, Entry entry) {
        (void)low;
        void **top = (void **)((uintptr_t)high & ~(uintptr_t)15);
        *--top = nullptr;
        *--top = nullptr;
        top[0] = (void *)entry;
        top[1] = nullptr;
        for (int saved = 0; saved < 6; saved++) *--top = nullptr;
        stack = top;
    }
    static void swap(Context &from, Context &to) { numen_sim_swap(&from.stack, to.stack); }
};

#elif defined(__aarch64__) && defined(__ELF__) && !defined(NUMEN_UCONTEXT)

extern "C" void numen_sim_swap(void **save, void *next) __attribute__((visibility("hidden")));
asm(R"(
    .text
    .hidden numen_sim_swap
    .globl numen_sim_swap
numen_sim_swap:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
)");

struct Context {
    void *stack;

    // The frame that numen_sim_swap pops, all zero but the link register (slot 11), to which it
    // returns.
    void prepare(char *low, char *high, Entry entry) {
        (void)low;
        void **top = (void **)(((uintptr_t)high & ~(uintptr_t)15) - 160);
        memset(top, 0, 160);
        top[11] = (void *)entry;
        stack = top;
    }
    static void swap(Context &from, Context &to) { numen_sim_swap(&from.stack, to.stack); }
};

#else

} // namespace sim
#include <ucontext.h>
namespace sim {

struct Context {
    ucontext_t context;

    void prepare(char *low, char *high, Entry entry) {
        getcontext(&context);
        context.uc_stack.ss_sp = low;
        context.uc_stack.ss_size = (size_t)(high - low);
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
    static void swap(Context &from, Context &to) { swapcontext(&from.context, &to.context); }
};

#endif

// ---- One block in flight ------------------------------------------------------------------------

enum { MAX_THREADS = 1024, WARP = 32, STACK_BYTES = 262144, MESSAGE_BYTES = 512 };

enum class State : unsigned char { Unstarted, Running, AtBarrier, AtWarp, Done };

// A CUDA thread. The last six fields belong to the warp operation that it waits in.
struct Thread {
    State state;
    int line;          // where it waits
    Context *fiber;    // where it stands
    uint3 index;       // its threadIdx
    unsigned mask;     // the lanes that take part
    unsigned source;   // the lane it reads from
    uint64_t posted;   // what it shows to the other lanes
    uint64_t received; // what the source posted
    bool vote;         // its own
    unsigned ballot;   // the votes of all lanes
};

struct Block {
    // The launch.
    unsigned count; // threads in a block
    bool strict;    // a thread that has exited is an error at a barrier, too
    char *message;  // the caller's, MESSAGE_BYTES
    char *dynamic;  // dynamic shared memory
    void (*kernel)(void **);
    void **arguments;

    // Fibers.
    Context home; // the OS thread's own stack, where the scheduler runs
    Context fibers[MAX_THREADS];
    Context *idle[MAX_THREADS]; // a stack of the fibers that hold no thread
    unsigned fiber_count, idle_count;
    Context *starting; // the fiber that the scheduler just gave threads to
    char *stacks;      // one for each thread of a block, side by side

    // Threads.
    Thread threads[MAX_THREADS];
    unsigned next;                            // the first that was not started
    unsigned live;                            // how many have not exited
    unsigned arrived;                         // how many wait at the barrier
    unsigned current;                         // the one that runs
    unsigned ready[MAX_THREADS], ready_count; // a stack of those that may go on
    bool failed;
};

static thread_local Block *block = nullptr;

template <class... V> static void record_failure(const char *format, V... values) {
    Block &b = *block;
    const int length = snprintf(b.message, MESSAGE_BYTES, "block (%u, %u, %u): ", blockIdx.x,
                                blockIdx.y, blockIdx.z);
    snprintf(b.message + length, (size_t)(MESSAGE_BYTES - length), format, values...);
    b.failed = true;
}

// Ends the launch from inside a fiber: goes home for good and leaves every thread where it stands.
template <class... V> [[noreturn]] static void fail(const char *format, V... values) {
    record_failure(format, values...);
    Context abandoned;
    Context::swap(abandoned, block->home);
    abort();
}

// ---- Scheduler ----------------------------------------------------------------------------------

// The running thread waits: go home until it is released.
static void suspend() {
    Block &b = *block;
    Context::swap(*b.threads[b.current].fiber, b.home);
}

static void release(unsigned thread) {
    Block &b = *block;
    b.threads[thread].state = State::Running;
    b.ready[b.ready_count++] = thread;
}

// Opens the barrier once every thread that has not exited is there. All must be at the same one: a
// barrier may stand in a branch only if the whole block takes that branch.
static void open_barrier_if_complete() {
    Block &b = *block;
    if (b.arrived == 0 || b.arrived < b.live) return;
    unsigned first = 0;
    while (b.threads[first].state != State::AtBarrier) first++;
    for (unsigned t = 0; t < b.count; t++) {
        const Thread &thread = b.threads[t];
        if (thread.state == State::Done && b.strict)
            fail("barrier divergence: thread %u at __syncthreads in line %d, thread %u has exited",
                 first, b.threads[first].line, t);
        if (thread.state == State::AtBarrier && thread.line != b.threads[first].line)
            fail("barrier divergence: thread %u at __syncthreads in line %d, thread %u in line %d",
                 first, b.threads[first].line, t, thread.line);
    }
    b.arrived = 0;
    for (unsigned t = b.count; t-- > 0;)
        if (b.threads[t].state == State::AtBarrier) release(t);
}

// Whether thread t waits in a warp operation with this mask.
static bool takes_part(unsigned t, unsigned mask) {
    const Thread &thread = block->threads[t];
    return (mask >> t % WARP & 1) && thread.state == State::AtWarp && thread.mask == mask;
}

// Carries out the warp operation of these lanes if all of them that have not exited have come, and
// releases them.
static void finish_warp_if_complete(unsigned warp, unsigned mask) {
    Block &b = *block;
    const unsigned begin = warp * WARP, end = begin + WARP < b.count ? begin + WARP : b.count;
    unsigned ballot = 0;
    for (unsigned t = begin; t < end; t++) {
        const Thread &thread = b.threads[t];
        if (takes_part(t, mask))
            ballot |= (unsigned)thread.vote << t % WARP;
        else if ((mask >> t % WARP & 1) && thread.state != State::Done)
            return;
    }
    for (unsigned t = begin; t < end; t++) {
        Thread &thread = b.threads[t];
        if (!takes_part(t, mask)) continue;
        const unsigned source = begin + thread.source;
        if (source >= end || !takes_part(source, mask))
            fail("warp operation in line %d: thread %u reads from lane %u, which takes no part",
                 thread.line, t, thread.source);
        thread.received = b.threads[source].posted;
        thread.ballot = ballot;
    }
    for (unsigned t = end; t-- > begin;)
        if (takes_part(t, mask)) release(t);
}

// An exit may be what a barrier or a warp operation was waiting for.
static void finish_thread(unsigned finished) {
    Block &b = *block;
    b.threads[finished].state = State::Done;
    b.live--;
    open_barrier_if_complete();
    const unsigned warp = finished / WARP;
    for (unsigned t = warp * WARP; t < (warp + 1) * WARP && t < b.count; t++)
        if (b.threads[t].state == State::AtWarp) finish_warp_if_complete(warp, b.threads[t].mask);
}

// What a fiber runs: threads from start to end, one after another, while there are some to start.
// When one has to wait, the fiber stays with it; the scheduler starts the rest on another.
static void fiber_main() {
    for (;;) {
        Block &b = *block;
        Context *self = b.starting;
        while (b.next < b.count) {
            const unsigned t = b.next++;
            b.current = t;
            b.threads[t].fiber = self;
            b.threads[t].state = State::Running;
            threadIdx = b.threads[t].index;
            b.kernel(b.arguments);
            finish_thread(t);
        }
        b.idle[b.idle_count++] = self;
        Context::swap(*self, b.home);
    }
}

static Context *new_fiber() {
    Block &b = *block;
    const unsigned index = b.fiber_count++;
    char *low = b.stacks + (size_t)index * STACK_BYTES;
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    mprotect(low, guard, PROT_NONE); // an overflow faults instead of writing into the neighbour
    // Stacks at equal low address bits would all compete for the same few cache sets: start each a
    // bit further down.
    const unsigned stagger = (index * 832u % 16384u) & ~63u;
    b.fibers[index].prepare(low + guard, low + STACK_BYTES - stagger, fiber_main);
    return &b.fibers[index];
}

// Every thread waits for one that will never come: says who waits where. A GPU would hang.
static void report_stuck() {
    Block &b = *block;
    char text[MESSAGE_BYTES - 128] = "";
    size_t used = 0;
    for (unsigned first = 0, end; first < b.count; first = end) {
        const Thread &thread = b.threads[first];
        for (end = first + 1; end < b.count; end++)
            if (b.threads[end].state != thread.state || b.threads[end].line != thread.line) break;
        if (thread.state == State::Done || used + 1 >= sizeof text) continue;
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s threads %u-%u at %s in line %d", used ? "," : "",
            first, end - 1, thread.state == State::AtBarrier ? "__syncthreads" : "a warp operation",
            thread.line);
    }
    record_failure("barrier divergence, no thread can go on:%s", text);
}

static void run_block() {
    Block &b = *block;
    b.next = b.arrived = b.ready_count = 0;
    b.live = b.count;
    for (unsigned t = 0; t < b.count; t++) b.threads[t].state = State::Unstarted;
    while (b.live > 0 && !b.failed) {
        if (b.ready_count > 0) {
            b.current = b.ready[--b.ready_count];
            threadIdx = b.threads[b.current].index;
            Context::swap(b.home, *b.threads[b.current].fiber);
        } else if (b.next < b.count) {
            b.starting = b.idle_count > 0 ? b.idle[--b.idle_count] : new_fiber();
            Context::swap(b.home, *b.starting);
        } else {
            report_stuck();
        }
    }
}

// ---- Launch -------------------------------------------------------------------------------------

// Count<n>::type is Indices<0, 1, ..., n - 1>.
template <size_t... i> struct Indices {};
template <size_t n, size_t... i> struct Count : Count<n - 1, n - 1, i...> {};
template <size_t... i> struct Count<0, i...> {
    using type = Indices<i...>;
};

// Calls a kernel the way cuLaunchKernel passes arguments: one pointer to each value.
template <auto kernel> struct Call;
template <class... Parameters, void (*kernel)(Parameters...)> struct Call<kernel> {
    template <size_t... i> static void unpack(void **arguments, Indices<i...>) {
        (void)arguments;
        kernel(*(Parameters *)arguments[i]...);
    }
    static void run(void **arguments) {
        unpack(arguments, typename Count<sizeof...(Parameters)>::type{});
    }
};

static void run_grid(const unsigned *grid, const unsigned *shape) {
    Block &b = *block;
    for (unsigned t = 0; t < b.count; t++)
        b.threads[t].index = {t % shape[0], t / shape[0] % shape[1], t / shape[0] / shape[1]};
    gridDim = dim3(grid[0], grid[1], grid[2]);
    blockDim = dim3(shape[0], shape[1], shape[2]);
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0] && !b.failed; x++) {
                blockIdx = {x, y, z};
                run_block();
            }
}

// Returns 0, or 1 with the reason in `message`.
static int launch(void (*kernel)(void **), const unsigned *grid, const unsigned *shape,
                  size_t shared, void **arguments, bool strict, char *message) {
    const uint64_t count = (uint64_t)shape[0] * shape[1] * shape[2];
    if (count == 0 || count > MAX_THREADS) {
        snprintf(message, MESSAGE_BYTES, "a block of %u x %u x %u threads; 1 to %d are allowed",
                 shape[0], shape[1], shape[2], (int)MAX_THREADS);
        return 1;
    }
    const size_t stack_bytes = count * STACK_BYTES; // address space: pages come when touched
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *stacks = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *dynamic = (char *)aligned_alloc(128, (shared + 128) & ~(size_t)127);
    Block *own = (Block *)calloc(1, sizeof(Block));
    bool failed = true;
    if (stacks == MAP_FAILED || dynamic == nullptr || own == nullptr) {
        snprintf(message, MESSAGE_BYTES, "out of memory");
    } else {
        own->count = (unsigned)count;
        own->strict = strict;
        own->message = message;
        own->dynamic = dynamic;
        own->kernel = kernel;
        own->arguments = arguments;
        own->stacks = (char *)stacks;
        block = own;
        run_grid(grid, shape);
        block = nullptr;
        failed = own->failed;
    }
    if (stacks != MAP_FAILED) munmap(stacks, stack_bytes);
    free(dynamic);
    free(own);
    return failed;
}

#define NUMEN_LAUNCHER(name)                                                                       \
    extern "C" __attribute__((visibility("default"))) int numen_launch_##name(                     \
        const unsigned *grid, const unsigned *shape, size_t shared, void **arguments, int strict,  \
        char *message) {                                                                           \
        return sim::launch(sim::Call<&name>::run, grid, shape, shared, arguments, strict != 0,     \
                           message);                                                               \
    }

// ---- Waiting together ---------------------------------------------------------------------------

static void barrier(int line) {
    Block &b = *block;
    Thread &thread = b.threads[b.current];
    thread.state = State::AtBarrier;
    thread.line = line;
    b.arrived++;
    open_barrier_if_complete();
    suspend();
}

static Thread &warp_operation(int line, unsigned mask, unsigned source, uint64_t posted,
                              bool vote) {
    Block &b = *block;
    const unsigned self = b.current;
    Thread &thread = b.threads[self];
    if (!(mask >> self % WARP & 1))
        fail("warp operation in line %d: thread %u calls it but is not in its mask %08x", line,
             self, mask);
    thread.state = State::AtWarp;
    thread.line = line;
    thread.mask = mask;
    thread.source = source;
    thread.posted = posted;
    thread.vote = vote;
    finish_warp_if_complete(self / WARP, mask);
    suspend();
    return thread;
}

template <class T> static T shuffle(int line, unsigned mask, T value, unsigned source) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_operation(line, mask, source, bits, false).received;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Lanes of a shuffle of `width` read only inside their own segment; one that would read beyond it
// keeps its own value.
template <class T>
static T shuffle_index(int line, unsigned mask, T value, int index, int width = WARP) {
    const int lane = (int)(block->current % WARP);
    return shuffle(line, mask, value, (unsigned)((lane & ~(width - 1)) | (index & (width - 1))));
}

template <class T>
static T shuffle_up(int line, unsigned mask, T value, unsigned delta, int width = WARP) {
    const int lane = (int)(block->current % WARP), source = lane - (int)delta;
    return shuffle(line, mask, value, (unsigned)(source < (lane & ~(width - 1)) ? lane : source));
}

template <class T>
static T shuffle_down(int line, unsigned mask, T value, unsigned delta, int width = WARP) {
    const int lane = (int)(block->current % WARP), source = lane + (int)delta;
    return shuffle(line, mask, value, (unsigned)(source > (lane | (width - 1)) ? lane : source));
}

template <class T>
static T shuffle_xor(int line, unsigned mask, T value, int flip, int width = WARP) {
    const int lane = (int)(block->current % WARP), source = lane ^ flip;
    return shuffle(line, mask, value, (unsigned)(source > (lane | (width - 1)) ? lane : source));
}

static inline unsigned ballot(int line, unsigned mask, bool vote) {
    return warp_operation(line, mask, block->current % WARP, 0, vote).ballot;
}

static inline void warp_barrier(int line, unsigned mask = 0xffffffffu) {
    ballot(line, mask, false);
}

static inline void *dynamic_shared() { return block->dynamic; }

} // namespace sim

#define __syncthreads() sim::barrier(__LINE__)
#define __syncwarp(...) sim::warp_barrier(__LINE__, ##__VA_ARGS__)
#define __shfl_sync(...) sim::shuffle_index(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) sim::shuffle_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) sim::shuffle_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) sim::shuffle_xor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, vote) sim::ballot(__LINE__, mask, vote)
#define __any_sync(mask, vote) (sim::ballot(__LINE__, mask, vote) != 0)
#define __all_sync(mask, vote) (sim::ballot(__LINE__, mask, !(vote)) == 0)

// ---- Atomics ------------------------------------------------------------------------------------
//
// Real ones, since another OS thread may run a launch on the same memory.

namespace sim {

template <size_t bytes> struct BitsOf; // atomics work on 4 or 8 bytes
template <> struct BitsOf<4> {
    using type = uint32_t;
};
template <> struct BitsOf<8> {
    using type = uint64_t;
};

template <class T, class F> static T exchange_with(T *address, F next) {
    using Bits = typename BitsOf<sizeof(T)>::type;
    Bits before = __atomic_load_n((Bits *)address, __ATOMIC_RELAXED), after;
    for (;;) {
        T value;
        memcpy(&value, &before, sizeof value);
        const T result = next(value);
        memcpy(&after, &result, sizeof result);
        if (__atomic_compare_exchange_n((Bits *)address, &before, after, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return value;
    }
}

// An argument that takes no part in the deduction of T, so that atomicAdd(float *, 1) compiles.
template <class T> struct Plain {
    using type = T;
};
template <class T> using plain = typename Plain<T>::type;

} // namespace sim

template <class T> static T atomicAdd(T *address, sim::plain<T> value) {
    return sim::exchange_with(address, [=](T old) { return (T)(old + value); });
}
template <class T> static T atomicMax(T *address, sim::plain<T> value) {
    return sim::exchange_with(address, [=](T old) { return old > value ? old : value; });
}
template <class T> static T atomicMin(T *address, sim::plain<T> value) {
    return sim::exchange_with(address, [=](T old) { return old < value ? old : value; });
}
template <class T> static T atomicExch(T *address, sim::plain<T> value) {
    return sim::exchange_with(address, [=](T) { return value; });
}
template <class T> static T atomicCAS(T *address, sim::plain<T> expected, sim::plain<T> value) {
    return sim::exchange_with(address, [=](T old) { return old == expected ? value : old; });
}

// ---- Arithmetic ---------------------------------------------------------------------------------
//
// The file is compiled without contraction, so plain operators round once each, as the _rn
// intrinsics promise.

static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }

static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

namespace sim {
template <class To, class From> static inline To same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "same_bits keeps the size");
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
} // namespace sim

static inline int __float_as_int(float a) { return sim::same_bits<int>(a); }
static inline unsigned __float_as_uint(float a) { return sim::same_bits<unsigned>(a); }
static inline float __int_as_float(int a) { return sim::same_bits<float>(a); }
static inline float __uint_as_float(unsigned a) { return sim::same_bits<float>(a); }
static inline long long __double_as_longlong(double a) { return sim::same_bits<long long>(a); }
static inline double __longlong_as_double(long long a) { return sim::same_bits<double>(a); }
