// The headers of Windows, in the order that they want, and its texts: UTF-8 with us, UTF-16 there.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
// clang-format off
#include <winsock2.h>
#include <windows.h>
// clang-format on

#include <string>
#include <string_view>

namespace galley::vfs {

// Empty: it is not UTF-8, or empty.
std::wstring ToWide(std::string_view text);
// Empty: it is not UTF-16, or empty.
std::string ToUtf8(std::wstring_view text);
// Returns the system's text for a code of GetLastError or WSAGetLastError, with the code.
std::string TextOfError(DWORD error);

}  // namespace galley::vfs
