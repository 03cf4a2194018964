/* The cheapest hook there can be: reads its payload to the end, allows, exits with 0. */
#include <unistd.h>

int main(void) {
    static const char answer[] = "{\"continue\":true}\n";
    char buffer[65536];
    while (read(0, buffer, sizeof buffer) > 0) {
    }
    return write(1, answer, sizeof answer - 1) == (ssize_t)(sizeof answer - 1) ? 0 : 1;
}
