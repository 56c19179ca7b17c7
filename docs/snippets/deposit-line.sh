curl -T a.pdf -H "Authorization: Bearer $KEY" "https://api.example.com/deposit?name=a.pdf"
