#include "common/listen/listening_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::listen {
namespace {

using testing::HasSubstr;

bool CanConnect(uint16_t port) {
  const FileDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

TEST(ListeningSocketTest, AFreePortIsChosenForAllAddressesOfAName) {
  for (const char* address : {"127.0.0.1:0", "localhost:0", "0.0.0.0:0"}) {
    const auto listening = ListenOnTcp(address);
    ASSERT_TRUE(listening.ok()) << listening.status();
    EXPECT_NE(listening->port, 0);
    EXPECT_TRUE(CanConnect(listening->port)) << address;
  }
}

TEST(ListeningSocketTest, APortThatIsTakenIsSaid) {
  const auto first = ListenOnTcp("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const std::string address = fmt::format("127.0.0.1:{}", first->port);
  EXPECT_EQ(MessageOf(ListenOnTcp(address).status()),
            address + " cannot be listened on: Address already in use");
  EXPECT_THAT(MessageOf(ListenOnTcp("0.0.0.0:" + std::to_string(first->port)).status()),
              HasSubstr("Address already in use"));
}

TEST(ListeningSocketTest, ASocketsPathMayNotBeTooLongAndNothingMayBeThere) {
  const std::string folder = *MakeTemporaryDirectory(testing::TempDir(), "listen-");
  const auto server = ListenOnUnix(JoinPath(folder, "s"));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(MessageOf(ListenOnUnix(JoinPath(folder, "s")).status()), HasSubstr("already in use"));
  EXPECT_THAT(MessageOf(ListenOnUnix(JoinPath(folder, std::string(120, 'x'))).status()),
              HasSubstr("too long"));
  EXPECT_TRUE(RemoveAll(folder).ok());
}

}  // namespace
}  // namespace galley::listen
