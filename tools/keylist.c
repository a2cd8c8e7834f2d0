/* SPDX-License-Identifier: MIT */
/* Keys (or other words) from the command line and from a file, in batches. */
#include "keylist.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define MOST_WORDS 24576
#define MOST_BATCH_BYTES ((size_t)4 << 20)
#define READ_BYTES ((size_t)256 << 10)
/* A batch has costs of its own, so that many words through a pipe are waited
 * for a little; a few are answered at once. */
#define BULK_BYTES ((size_t)4 << 10)
#define BULK_WAIT_MS 2

static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

bool keylist_open(keylist *list, const keylist_source *source)
{
    *list = (keylist){.source = *source, .fd = -1};
    if (source->file == NULL)
        return true;
    if (strcmp(source->file, "-") == 0)
        list->fd = STDIN_FILENO;
    else
        list->fd = open(source->file, O_RDONLY | O_CLOEXEC);
    if (list->fd >= 0)
        return true;
    message_text("%s: cannot open: %s", source->file, strerror(errno));
    return false;
}

bool keylist_is_complete(const keylist_source *source)
{
    struct stat info;
    if (source->file == NULL)
        return true;
    int result = strcmp(source->file, "-") == 0 ? fstat(STDIN_FILENO, &info)
                                                : stat(source->file, &info);
    return result == 0 && S_ISREG(info.st_mode);
}

static void close_file(keylist *list)
{
    if (list->fd > STDIN_FILENO)
        close(list->fd);
    list->fd = -1;
}

void keylist_close(keylist *list)
{
    close_file(list);
    byte_buffer_free(&list->text);
    free(list->words);
    free(list->offsets);
    list->words = NULL;
    list->offsets = NULL;
}

static void add_word(keylist *list, const char *word, size_t size_bytes)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->words =
            resize_memory(list->words, list->capacity, sizeof list->words[0]);
        list->offsets = resize_memory(list->offsets, list->capacity,
                                      sizeof list->offsets[0]);
    }
    list->words[list->count++] = (ksv_key){.data = word, .bytes = size_bytes};
}

static bool is_full(const keylist *list)
{
    return list->count >= MOST_WORDS && !list->source.one_batch;
}

static void take_arguments(keylist *list)
{
    while (list->next_argument < list->source.argument_count &&
           !is_full(list)) {
        const char *word = list->source.arguments[list->next_argument++];
        add_word(list, word, strlen(word));
    }
}

/* Words of the file move with `text`: they get their address at the end. */
static void add_file_word(keylist *list, size_t offset, size_t size_bytes)
{
    if (size_bytes == 0 && !list->source.nul_ended) {
        list->blank_lines++;
        return;
    }
    add_word(list, NULL, size_bytes);
    list->offsets[list->count - 1] = offset;
}

/* Takes the word that ends before `end`; `is_ended` unless it is the last of
 * the file and lacks its end. */
static void take_word(keylist *list, size_t end, bool is_ended)
{
    size_t start = list->taken_bytes;
    size_t size_bytes = end - start;
    if (!list->source.nul_ended && is_ended && size_bytes > 0 &&
        list->text.data[end - 1] == '\r')
        size_bytes--;
    add_file_word(list, start, size_bytes);
    list->taken_bytes = is_ended ? end + 1 : end;
    list->searched_bytes = list->taken_bytes;
}

/* True while it has to wait for more bytes before it can tell. */
static bool skip_byte_order_mark(keylist *list)
{
    size_t length = strlen(BYTE_ORDER_MARK);
    size_t got =
        list->text.used_bytes < length ? list->text.used_bytes : length;
    if (list->is_begun)
        return false;
    if (!list->source.nul_ended &&
        memcmp(list->text.data, BYTE_ORDER_MARK, got) == 0) {
        if (got < length && !list->is_file_end)
            return true;
        if (got == length)
            list->taken_bytes = list->searched_bytes = length;
    }
    list->is_begun = true;
    return false;
}

/* Takes the words that are whole in `text`. */
static void take_words(keylist *list)
{
    byte_buffer *text = &list->text;
    if (text->used_bytes == 0 || skip_byte_order_mark(list))
        return;
    int separator = list->source.nul_ended ? '\0' : '\n';
    while (!is_full(list)) {
        const char *end = NULL;
        if (list->searched_bytes < text->used_bytes)
            end = memchr(text->data + list->searched_bytes, separator,
                         text->used_bytes - list->searched_bytes);
        if (end == NULL) {
            list->searched_bytes = text->used_bytes;
            break;
        }
        take_word(list, (size_t)(end - text->data), true);
    }
    if (list->is_file_end && !is_full(list) &&
        list->taken_bytes < text->used_bytes)
        take_word(list, text->used_bytes, false);
}

/* Drops the words of the batch before. */
static void drop_taken(keylist *list)
{
    byte_buffer *text = &list->text;
    size_t left = text->used_bytes - list->taken_bytes;
    if (list->taken_bytes == 0)
        return;
    memmove(text->data, text->data + list->taken_bytes, left);
    text->used_bytes = left;
    list->searched_bytes -= list->taken_bytes;
    list->taken_bytes = 0;
}

static bool read_more(keylist *list)
{
    byte_buffer_reserve(&list->text, READ_BYTES);
    ssize_t got;
    do
        got =
            read(list->fd, list->text.data + list->text.used_bytes, READ_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        struct pollfd wanted = {.fd = list->fd, .events = POLLIN};
        poll(&wanted, 1, -1);
        return true;
    }
    if (got < 0) {
        message_text("%s: cannot read: %s", list->source.file, strerror(errno));
        return false;
    }
    list->text.used_bytes += (size_t)got;
    list->is_file_end = got == 0;
    return true;
}

static bool can_read_within(int fd, int wait_ms)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, wait_ms) != 0;
}

/* Whether the batch shall be answered before more is read. */
static bool is_enough(keylist *list)
{
    if (list->count == 0 || list->source.one_batch)
        return false;
    if (list->text.used_bytes >= MOST_BATCH_BYTES)
        return true;
    /* Who has sent so much at once is most likely not done. */
    bool is_bulk = list->text.used_bytes >= BULK_BYTES;
    list->is_waiting = !can_read_within(list->fd, is_bulk ? BULK_WAIT_MS : 0);
    return list->is_waiting;
}

static void set_addresses(keylist *list, size_t from)
{
    for (size_t i = from; i < list->count; i++)
        list->words[i].data = list->text.data + list->offsets[i];
}

bool keylist_next(keylist *list)
{
    list->count = 0;
    list->is_waiting = false;
    drop_taken(list);
    take_arguments(list);
    size_t argument_words = list->count;
    while (list->fd >= 0 && !is_full(list)) {
        take_words(list);
        if (is_full(list) || is_enough(list))
            break;
        if (list->is_file_end)
            close_file(list);
        else if (!read_more(list))
            return false;
    }
    set_addresses(list, argument_words);
    return true;
}
