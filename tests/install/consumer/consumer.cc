// SPDX-License-Identifier: MIT
// A C++ program that uses the installed library.
#include <cstdio>
#include <cstring>

#include <keysieve/keysieve.h>

int main()
{
    ksv_error error;
    ksv_index *index = nullptr;
    ksv_status status =
        ksv_index_open("/no/such/index", nullptr, &index, &error);
    std::printf("keysieve %s: %s\n", ksv_version(), ksv_status_text(status));
    return status == KSV_ERROR_NO_INDEX && index == nullptr ? 0 : 1;
}
