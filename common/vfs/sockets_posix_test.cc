#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "common/vfs/address_book.h"
#include "common/vfs/sockets.h"
#include "gtest/gtest.h"

namespace {

std::atomic<int> name_look_ups = 0;

}  // namespace

// Stands before the one of the C library: a resolver that knows one name.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if ((hints->ai_flags & AI_NUMERICHOST) != 0) return real(node, service, hints, found);
  ++name_look_ups;
  if (std::string(node) != "director.test") return EAI_AGAIN;
  return real("127.0.0.1", service, hints, found);
}

namespace galley::vfs {
namespace {

class SocketsPosixTest : public testing::Test {
 protected:
  void SetUp() override {
    name_look_ups = 0;
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener_, 8), 0);
    ASSERT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    net_.context = &book_;
  }
  void TearDown() override { ::close(listener_); }
  // Empty: it was connected.
  std::string Connect(const char* host) {
    std::array<char, 256> text{};
    void* const connection =
        net_.connect(net_.context, host, port_, 5'000, text.data(), text.size());
    if (connection == nullptr) return text.data();
    char byte = 0;
    EXPECT_EQ(net_.receive(net_.context, connection, &byte, 1, 0), -1) << "nothing yet";
    net_.close(net_.context, connection);
    return "";
  }

  int listener_ = -1;
  uint16_t port_ = 0;
  AddressBook book_;
  galley_vfs_net net_ = PlainNet();
};

TEST_F(SocketsPosixTest, ANameIsLookedUpOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Connect("director.test"), "");
  EXPECT_EQ(name_look_ups, 1);
}

TEST_F(SocketsPosixTest, ADeadResolverCostsOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Connect("other.test"), ::gai_strerror(EAI_AGAIN));
  EXPECT_EQ(name_look_ups, 1);
}

TEST_F(SocketsPosixTest, ThisMachineAndAddressesNeedNoResolver) {
  EXPECT_EQ(Connect("localhost"), "");
  EXPECT_EQ(Connect("127.0.0.1"), "");
  net_.context = nullptr;
  EXPECT_EQ(Connect("127.0.0.1"), "");
  EXPECT_EQ(name_look_ups, 0);
  ::close(listener_);
  listener_ = -1;
  EXPECT_NE(Connect("localhost"), "");
}

}  // namespace
}  // namespace galley::vfs
